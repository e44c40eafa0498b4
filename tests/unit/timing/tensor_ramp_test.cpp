// The Tensor Engine's current limiter: half rate at first, full rate after a while, half rate again
// after idling.
#include "timing/tensor_ramp.h"

#include "scene.h"

namespace trnsim::timing {
namespace {

constexpr Picoseconds ns(std::int64_t n) { return {n * 1000}; }

catalog::TensorEngine limited() {
  catalog::TensorEngine engine;
  engine.ramp.emplace();
  engine.ramp->initial_rate.value = 0.5;
  engine.ramp->full_after.value = 3000;
  engine.ramp->rearm_window.value = 3000;
  engine.ramp->rearm_threshold.value = 0.5;
  return engine;
}

TEST(TensorRamp, without_a_limiter_nothing_is_stretched) {
  TensorRamp ramp{catalog::TensorEngine{}};
  EXPECT_EQ(ramp.stretch(ns(0), ns(100)).count, ns(100).count);
}

TEST(TensorRamp, a_cold_array_takes_twice_as_long) {
  TensorRamp ramp(limited());
  EXPECT_EQ(ramp.stretch(ns(0), ns(1000)).count, ns(2000).count);
}

TEST(TensorRamp, work_that_outlasts_the_cold_period_goes_on_at_full_rate) {
  TensorRamp ramp(limited());
  EXPECT_EQ(ramp.stretch(ns(0), ns(2500)).count,
            ns(3000 + 1000).count);  // 1500 at half rate, 1000 at full rate
  EXPECT_EQ(ramp.stretch(ns(4000), ns(500)).count, ns(500).count);
}

TEST(TensorRamp, a_short_gap_keeps_the_array_warm_and_a_long_one_does_not) {
  TensorRamp ramp(limited());
  ramp.stretch(ns(0), ns(2500));  // until 4000
  EXPECT_EQ(ramp.stretch(ns(4000 + 1500), ns(500)).count,
            ns(500).count);  // until 6000; half the window idle
  EXPECT_EQ(ramp.stretch(ns(6000 + 1501), ns(500)).count, ns(1000).count);  // cold again
}

TEST(TensorRamp, matmuls_of_a_kernel_warm_the_array_up) {
  Scene scene;
  std::vector<std::uint32_t> matmuls;
  const Tile stationary = sbuf(0, 128, 128, Dtype::kBfloat16),
             moving = sbuf(4096, 512, 128, Dtype::kBfloat16);
  for (int i = 0; i < 40; ++i)
    matmuls.push_back(scene.matmul(psum(2048 * (i % 8), 512), stationary, moving));
  const auto& tensor = scene.core().tensor;
  const auto busy = [&](std::uint32_t i) {
    return (scene.at(i).busy_end - scene.at(i).start).count;
  };
  const Picoseconds full = from_cycles(512, tensor.clock);
  const double cold = static_cast<double>(full.count) / tensor.ramp->initial_rate;
  EXPECT_NEAR(static_cast<double>(busy(matmuls.front())), cold, 2);  // whole picoseconds
  EXPECT_EQ(busy(matmuls.back()), full.count);
}

}  // namespace
}  // namespace trnsim::timing
