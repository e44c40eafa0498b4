// Engines: how long an instruction keeps one, when its result is there, and what several engines
// share.
#include "scene.h"

namespace trnsim::timing {
namespace {

using numerics::ActivationFunction;

TEST(Engine, the_next_instruction_starts_when_the_engine_is_free_and_not_when_the_result_is_there) {
  Scene scene;
  const auto first = scene.copy(sbuf(0, 512), sbuf(32768, 512));
  const auto second = scene.copy(sbuf(4096, 512), sbuf(65536, 512));
  const Entry& entry = scene.at(first);
  EXPECT_EQ((entry.end - entry.busy_end).count, from_ns(scene.core().vector.drain).count);
  expect_start(scene, second, entry.busy_end, Wait::kEngine, first);
}

TEST(Engine, a_short_instruction_takes_the_minimum_interval) {
  Scene scene;
  const auto i = scene.copy(sbuf(0, 1), sbuf(4096, 1));
  const auto& vector = scene.core().vector;
  EXPECT_EQ(scene.at(i).busy_end.count, from_cycles(vector.min_issue_cycles, vector.clock).count);
}

TEST(Engine, each_engine_drains_at_its_own_pace) {
  Scene scene;
  const auto vector = scene.copy(sbuf(0, 512), sbuf(32768, 512), Engine::kVector);
  const auto scalar = scene.copy(sbuf(2048, 512), sbuf(32768, 512), Engine::kScalar);
  const auto gpsimd = scene.copy(sbuf(4096, 512), sbuf(32768, 512), Engine::kGpsimd);
  const auto tensor = scene.matmul(psum(0, 512), sbuf(8192, 128), sbuf(16384, 512));
  const auto drain = [&](std::uint32_t i) {
    return (scene.at(i).end - scene.at(i).busy_end).count;
  };
  EXPECT_EQ(drain(vector), from_ns(scene.core().vector.drain).count);
  EXPECT_EQ(drain(scalar), from_ns(scene.core().scalar.copy_drain).count);
  EXPECT_EQ(drain(gpsimd), from_ns(scene.core().gpsimd->drain).count);
  EXPECT_EQ(drain(tensor), from_ns(scene.core().tensor.fill_latency).count);
  for (const auto i : {vector, scalar, gpsimd, tensor})
    expect_start(scene, i, {}, Wait::kNothing, kNobody);
}

TEST(Engine, instructions_of_one_engine_stay_in_order_behind_one_that_waits) {
  Scene scene;
  const auto slow = scene.copy(sbuf(0, 4096), sbuf(65536, 4096), Engine::kGpsimd);
  const auto waits = scene.copy(sbuf(32768, 512), sbuf(0, 512));
  const auto free = scene.copy(sbuf(49152, 512), sbuf(57344, 512));
  expect_start(scene, waits, scene.at(slow).end + scene.semaphore(), Wait::kData, slow);
  expect_start(scene, free, scene.at(waits).busy_end, Wait::kEngine, waits);
}

TEST(Engine, a_change_of_table_set_costs_a_load_and_the_same_set_does_not) {
  Scene scene;
  const auto first = scene.activate(sbuf(0, 512), sbuf(32768, 512), ActivationFunction::kExp);
  const auto same = scene.activate(sbuf(2048, 512), sbuf(32768, 512), ActivationFunction::kExp);
  const auto other =
      scene.activate(sbuf(4096, 512), sbuf(32768, 512), ActivationFunction::kSigmoid);
  const Picoseconds load = from_ns(scene.core().scalar.table_load);
  EXPECT_EQ(scene.at(first).prelude.count, load.count);
  EXPECT_EQ(scene.at(same).prelude.count, 0);
  EXPECT_EQ(scene.at(other).prelude.count, load.count);
  EXPECT_EQ(scene.timeline().table_load_count, 2);
  EXPECT_EQ(scene.timeline().table_loads.count, 2 * load.count);
  EXPECT_EQ((scene.at(first).busy_end - scene.at(first).start - load).count,
            (scene.at(same).busy_end - scene.at(same).start).count);
}

TEST(Engine, a_function_that_every_table_set_has_loads_none_and_keeps_the_one_that_is_there) {
  Scene scene;
  const auto first = scene.activate(sbuf(0, 512), sbuf(32768, 512), ActivationFunction::kExp);
  for (const auto plain : {ActivationFunction::kCopy, ActivationFunction::kRelu,
                           ActivationFunction::kSquare, ActivationFunction::kAbs}) {
    const auto between = scene.activate(sbuf(2048, 512), sbuf(32768, 512), plain);
    EXPECT_EQ(scene.at(between).prelude.count, 0);
  }
  const auto again = scene.activate(sbuf(4096, 512), sbuf(32768, 512), ActivationFunction::kExp);
  EXPECT_GT(scene.at(first).prelude.count, 0);
  EXPECT_EQ(scene.at(again).prelude.count, 0);
}

TEST(Port, vector_and_gpsimd_exclude_each_other_from_sbuf_on_v2_only) {
  Scene v2("trainium1");
  const auto holder = v2.copy(sbuf(0, 4096), sbuf(32768, 4096), Engine::kVector);
  const auto waits = v2.copy(sbuf(65536, 512), sbuf(98304, 512), Engine::kGpsimd);
  expect_start(v2, waits, v2.at(holder).busy_end, Wait::kPort, holder);

  Scene v3("trainium2");
  v3.copy(sbuf(0, 4096), sbuf(32768, 4096), Engine::kVector);
  const auto free = v3.copy(sbuf(65536, 512), sbuf(98304, 512), Engine::kGpsimd);
  expect_start(v3, free, {}, Wait::kNothing, kNobody);
}

TEST(Port, vector_and_scalar_exclude_each_other_from_psum_on_v2_only) {
  for (const bool v2 : {true, false}) {
    Scene scene(v2 ? "trainium1" : "trainium2");
    const auto holder = scene.copy(psum(0, 512), sbuf(32768, 512), Engine::kVector);
    const auto other = scene.activate(psum(2048, 512), sbuf(65536, 512), ActivationFunction::kCopy);
    if (v2) {
      expect_start(scene, other, scene.at(holder).busy_end, Wait::kPort, holder);
    } else {
      expect_start(scene, other, {}, Wait::kNothing, kNobody);
    }
  }
}

TEST(Port, instructions_that_do_not_touch_the_shared_memory_are_free) {
  Scene scene("trainium1");
  scene.copy(psum(0, 512), psum(4096, 512), Engine::kVector);
  const auto gpsimd = scene.copy(sbuf(65536, 512), sbuf(98304, 512), Engine::kGpsimd);
  expect_start(scene, gpsimd, {}, Wait::kNothing, kNobody);
}

TEST(Clock, an_empty_program_takes_no_time) {
  Scene scene;
  EXPECT_EQ(scene.timeline().total.count, 0);
}

TEST(Clock, totals_add_up) {
  Scene scene;
  const Tile a = scene.hbm(128, 512);
  scene.dma(sbuf(0, 512), a);
  scene.matmul(psum(0, 512), sbuf(8192, 128), sbuf(0, 512));
  EXPECT_EQ(scene.timeline().dma_bytes, 128 * 512 * 4);
  EXPECT_EQ(scene.timeline().hbm_bytes, 128 * 512 * 4);
  EXPECT_EQ(scene.timeline().flops, 2ll * 128 * 128 * 512);
  EXPECT_EQ(scene.timeline().total.count, scene.at(1).end.count);
  EXPECT_EQ(scene.timeline().launch.count, from_ns(scene.core().launch.neff).count);
}

}  // namespace
}  // namespace trnsim::timing
