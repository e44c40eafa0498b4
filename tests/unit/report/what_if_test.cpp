// Programs clocked again without an obstacle, each against one where the gain is known by hand.
#include "report/what_if.h"

#include <gmock/gmock.h>

#include <set>

#include "examples.h"
#include "report/verdict.h"

namespace trnsim::report {
namespace {

Picoseconds without(Scene& scene, std::string_view name) {
  const report::Run run = run_of(scene);
  const Obstacle* obstacle = find_obstacle(name);
  EXPECT_NE(obstacle, nullptr) << name;
  return gains({&run, 1}, {&obstacle, 1}).front().latency;
}

TEST(WhatIf, every_obstacle_can_be_removed_from_any_program) {
  std::set<std::string_view> names;
  for (const Obstacle& obstacle : obstacles()) {
    EXPECT_TRUE(names.insert(obstacle.name).second);
    EXPECT_EQ(obstacle.advice.empty(), obstacle.cause.empty());
    for (const char* chip : {"trainium1", "trainium2", "trainium3"}) {
      Scene scene(chip);
      jumble(scene, 5, 60);
      const Picoseconds then = without(scene, obstacle.name);
      EXPECT_GT(then.count, 0);
      if (obstacle.advice.empty()) {
        EXPECT_LE(then.count, scene.timeline().total.count * 101 / 100) << obstacle.name << chip;
      }
    }
  }
  EXPECT_EQ(find_obstacle("gremlins"), nullptr);
}

TEST(WhatIf, dma_latency_is_what_a_lone_transfer_waits_for) {
  Scene scene;
  scene.dma(sbuf(0, 4096), scene.hbm(128, 4096));
  const catalog::Dma& dma = scene.core().dma;
  const double gone = dma.trigger_latency + dma.spread + dma.completion_latency;
  EXPECT_NEAR(without(scene, "dma-latency").ns(), scene.timeline().total.ns() - gone, 0.01);
}

TEST(WhatIf, a_table_set_that_stays_is_loaded_once) {
  using enum numerics::ActivationFunction;
  Scene scene;
  for (int i = 0; i < 6; ++i)
    scene.activate(sbuf(8192 * i, 512), sbuf(131072, 512), i % 2 ? kExp : kSigmoid);
  const double load = scene.core().scalar.table_load;
  EXPECT_NEAR(scene.timeline().total.ns() - without(scene, "grouped-activations").ns(), 4 * load,
              1);
  EXPECT_NEAR(scene.timeline().total.ns() - without(scene, "table-loads").ns(), 6 * load, 1);
}

TEST(WhatIf, fresh_buffers_let_loads_run_ahead_of_their_readers) {
  Scene scene;
  const auto load = [&] { return scene.dma(sbuf(0, 2048), scene.hbm(128, 2048)); };
  load();
  scene.copy(sbuf(65536, 2048), sbuf(0, 2048));
  const auto second = load();
  EXPECT_EQ(scene.at(second).wait, timing::Wait::kReuse);
  EXPECT_LT(without(scene, "double-buffering").count, scene.timeline().total.count);
}

TEST(WhatIf, a_tile_that_was_loaded_before_need_not_come_again_unless_it_changed) {
  Scene scene;
  const isa::Tile weights = scene.hbm(128, 4096);
  for (int i = 0; i < 2; ++i) scene.dma(sbuf(16384 * i, 4096), weights);
  const Picoseconds kept = without(scene, "keep-in-sbuf");
  EXPECT_LT(kept.count, scene.timeline().total.count);
  Scene written;
  const isa::Tile tensor = written.hbm(128, 4096);
  written.dma(sbuf(0, 4096), tensor);
  written.dma(tensor, sbuf(32768, 4096));
  written.dma(sbuf(16384, 4096), tensor);
  EXPECT_EQ(without(written, "keep-in-sbuf").count, written.timeline().total.count);
}

TEST(WhatIf, evictions_move_to_the_engine_that_is_asked_for) {
  Scene scene, moved;
  for (int i = 0; i < 4; ++i) {
    scene.activate(sbuf(8192 * i, 512), psum(0, 512), numerics::ActivationFunction::kCopy);
    moved.copy(sbuf(8192 * i, 512), psum(0, 512));
  }
  EXPECT_EQ(without(scene, "evict-on-vector").count, moved.timeline().total.count);
}

TEST(Verdict, says_that_nothing_ran_or_that_nothing_helps) {
  Scene nothing, something;
  const report::Run empty = run_of(nothing);
  EXPECT_EQ(judge({&empty, 1}, summarize(empty)).sentence, "nothing ran on the device");
  for (int i = 0; i < 40; ++i) something.copy(sbuf(0, 4096), sbuf(65536, 4096));
  const report::Run run = run_of(something);
  const Verdict verdict = judge({&run, 1}, summarize(run));
  EXPECT_THAT(verdict.sentence, testing::HasSubstr("go to Vector Engine"));
  EXPECT_THAT(verdict.sentence, testing::HasSubstr("no change that was tried gains 2 %"));
  EXPECT_TRUE(verdict.advice.empty());
}

TEST(Verdict, of_a_long_launch_says_that_it_was_not_clocked_again) {
  Scene scene;
  for (std::size_t i = 0; i <= kClockedAgainUnasked; ++i) scene.copy(sbuf(0, 64), sbuf(8192, 64));
  const report::Run run = run_of(scene);
  const Verdict verdict = judge({&run, 1}, summarize(run));
  EXPECT_FALSE(verdict.asked);
  EXPECT_THAT(verdict.sentence, testing::HasSubstr("trnsim whatif"));
}

}  // namespace
}  // namespace trnsim::report
