// The critical path: it explains the whole latency, and each picosecond once.
#include "report/critical_path.h"

#include <gmock/gmock.h>

#include "examples.h"

namespace trnsim::report {
namespace {

void expect_explains_everything(const Run& run) {
  Picoseconds reached;
  for (const Step& step : critical_path(run)) {
    EXPECT_EQ(step.from.count, reached.count);
    EXPECT_GT(step.time().count, 0);
    reached = step.to;
  }
  EXPECT_EQ(reached.count, run.timeline->total.count);
}

TEST(CriticalPath, of_an_empty_program_is_empty) {
  Scene scene;
  EXPECT_TRUE(critical_path(run_of(scene)).empty());
}

TEST(CriticalPath, of_a_chain_goes_through_every_cause_in_turn) {
  Scene scene;
  load_multiply_store(scene);
  std::vector<std::pair<std::uint32_t, Cause>> steps;
  for (const Step& step : critical_path(run_of(scene)))
    steps.emplace_back(step.instruction, step.cause);
  using enum Cause;
  EXPECT_THAT(steps, testing::ElementsAreArray(
                         std::vector<std::pair<std::uint32_t, Cause>>{{0, kDmaIssue},
                                                                      {0, kDmaLatency},
                                                                      {0, kDmaDescriptors},
                                                                      {0, kDmaBandwidth},
                                                                      {0, kDmaLatency},
                                                                      {1, kWork},
                                                                      {1, kColdArray},
                                                                      {1, kResultLatency},
                                                                      {2, kSemaphore},
                                                                      {2, kTableLoad},
                                                                      {2, kWork},
                                                                      {2, kResultLatency},
                                                                      {3, kSemaphore},
                                                                      {3, kDmaIssue},
                                                                      {3, kDmaLatency},
                                                                      {3, kDmaDescriptors},
                                                                      {3, kDmaBandwidth},
                                                                      {3, kDmaLatency}}));
  expect_explains_everything(run_of(scene));
}

TEST(CriticalPath, runs_through_the_transfers_that_kept_the_engines_busy) {
  Scene scene;
  for (int i = 0; i < 8; ++i) scene.dma(sbuf(16384 * i, 4096), scene.hbm(128, 4096));
  Picoseconds moving;
  for (const Step& step : critical_path(run_of(scene))) {
    if (step.cause == Cause::kDmaBandwidth) moving += step.time();
  }
  EXPECT_GT(static_cast<double>(moving.count),
            0.8 * static_cast<double>(scene.timeline().total.count));
  expect_explains_everything(run_of(scene));
}

TEST(CriticalPath, explains_any_program) {
  for (const char* chip : {"trainium1", "trainium2", "trainium3"}) {
    for (unsigned seed = 0; seed < 20; ++seed) {
      Scene scene(chip);
      jumble(scene, seed, 100);
      SCOPED_TRACE(testing::Message() << chip << ", seed " << seed);
      expect_explains_everything(run_of(scene));
    }
  }
}

}  // namespace
}  // namespace trnsim::report
