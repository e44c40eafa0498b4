// What a latency rests on, as found by making figures worse.
#include "report/confidence_share.h"

#include <gmock/gmock.h>

#include <numeric>

#include "examples.h"

namespace trnsim::report {
namespace {

using catalog::Confidence;

ConfidenceShare share_of(Scene& scene) {
  const report::Run run = run_of(scene);
  return confidence_share({&run, 1});
}

double sum(const ConfidenceShare& share) {
  return std::accumulate(share.begin(), share.end(), 0.0);
}

TEST(ConfidenceShare, adds_up_to_one) {
  for (const char* chip : {"trainium1", "trainium2", "trainium3"}) {
    Scene scene(chip);
    jumble(scene, 3, 100);
    const ConfidenceShare share = share_of(scene);
    EXPECT_NEAR(sum(share), 1, 1e-9);
    for (const double part : share) EXPECT_GE(part, 0);
  }
  Scene nothing;
  EXPECT_EQ(sum(share_of(nothing)), 0);
}

TEST(ConfidenceShare, goes_by_the_figures_that_the_latency_depends_on) {
  // A long copy depends on the engine's clock and, a little, on its drain.
  const auto of = [](Confidence clock, Confidence drain) {
    Scene scene;
    scene.copy(sbuf(0, 4096), sbuf(32768, 4096));
    scene.core().vector.clock.confidence = clock;
    scene.core().vector.drain.confidence = drain;
    scene.core().vector.copy_fp32_speedup.confidence = clock;
    return share_of(scene);
  };
  using enum Confidence;
  const ConfidenceShare guessed = of(kGuess, kMeasured);
  EXPECT_GT(guessed[3], 0.9);
  EXPECT_GT(guessed[1], 0.01);
  EXPECT_LT(guessed[1], 0.1);
  EXPECT_EQ(of(kDocumented, kDocumented)[0], 1);
}

TEST(ConfidenceShare, knows_rates_from_times) {
  // A guess that a transfer is bound by, be it a rate or a time, makes the latency a guess.
  Scene rate, time;
  for (Scene* scene : {&rate, &time}) {
    for (int i = 0; i < 4; ++i) scene->dma(sbuf(16384 * i, 4096), scene->hbm(128, 4096));
  }
  rate.core().dma.sustained_rate.confidence = Confidence::kGuess;
  EXPECT_GT(share_of(rate)[3], 0.6);
  time.core().dma.trigger_latency = {100'000, Confidence::kGuess};
  EXPECT_GT(share_of(time)[3], 0.8);
}

}  // namespace
}  // namespace trnsim::report
