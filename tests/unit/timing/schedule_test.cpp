// The list scheduler: what it moves, and what it must leave in place.
#include "timing/schedule.h"

#include "scene.h"

namespace trnsim::timing {
namespace {

Timeline listed(const Scene& scene) {
  return clock(scene.program, scene.chip, {.scheduling = Scheduling::kList});
}

// Vector waits for a load that Scalar's work does not need.
struct Blocked {
  Scene scene;
  std::uint32_t load, blocked, free;
  explicit Blocked(std::uint32_t between = 0) {
    load = scene.dma(sbuf(0, 512), scene.hbm(128, 512));
    blocked = scene.copy(sbuf(32768, 512), sbuf(0, 512));
    for (std::uint32_t i = 0; i < between; ++i)
      scene.copy(sbuf(40960, 64), sbuf(45056, 64), Engine::kScalar);
    free = scene.copy(sbuf(65536, 64), sbuf(98304, 64));
  }
};

TEST(Schedule, an_independent_instruction_overtakes_one_that_waits) {
  const Blocked blocked;
  const Timeline timeline = listed(blocked.scene);
  EXPECT_EQ(timeline.entries[blocked.free].start.count, 0);
  EXPECT_EQ(timeline.scheduling, Scheduling::kList);
  const Timeline written =
      clock(blocked.scene.program, blocked.scene.chip, {.scheduling = Scheduling::kProgram});
  EXPECT_EQ(written.entries[blocked.free].start, written.entries[blocked.blocked].busy_end);
}

TEST(Schedule, the_window_ends_where_it_is_documented_to_end) {
  // Once the load is on its way, the one that waits for it is the oldest, and counts.
  const Blocked within(kLookAhead - 2), beyond(kLookAhead - 1);
  EXPECT_EQ(listed(within.scene).entries[within.free].start.count, 0);
  const Timeline timeline = listed(beyond.scene);
  EXPECT_EQ(timeline.entries[beyond.free].start, timeline.entries[beyond.blocked].busy_end);
}

TEST(Schedule, buffers_that_are_used_again_keep_their_order) {
  Scene scene;
  scene.dma(sbuf(0, 512), scene.hbm(128, 512));
  const auto reader = scene.copy(sbuf(32768, 512), sbuf(0, 512));
  const auto writer = scene.copy(sbuf(0, 512), sbuf(98304, 512));
  const Timeline timeline = listed(scene);
  EXPECT_EQ(timeline.entries[writer].start, timeline.entries[reader].busy_end);
}

TEST(Schedule, one_queues_readers_of_the_same_bytes_keep_their_order) {
  // Only the later reader is remembered for the writer: the earlier one must not fall behind it.
  Scene scene;
  scene.dma(sbuf(0, 512), scene.hbm(128, 512));
  const auto first = scene.issue("tensor_tensor", {{"dst", sbuf(32768, 64)},
                                                   {"data1", sbuf(0, 64)},
                                                   {"data2", sbuf(65536, 64)},
                                                   {"op", numerics::AluOp::kAdd}});
  const auto second = scene.copy(sbuf(98304, 64), sbuf(65536, 64));
  const auto writer = scene.copy(sbuf(65536, 64), sbuf(131072, 64), Engine::kScalar);
  const Timeline timeline = listed(scene);
  EXPECT_GE(timeline.entries[second].start, timeline.entries[first].busy_end);
  EXPECT_GE(timeline.entries[writer].start, timeline.entries[first].busy_end);
}

TEST(Schedule, a_stretch_in_order_stays_in_order) {
  Blocked blocked;
  blocked.scene.program.keep_in_order({blocked.blocked, blocked.free + 1});
  const Timeline timeline = listed(blocked.scene);
  EXPECT_EQ(timeline.entries[blocked.free].start, timeline.entries[blocked.blocked].busy_end);
}

TEST(Schedule, an_order_that_the_kernel_asks_for_is_kept) {
  Blocked blocked;
  blocked.scene.program.depend(blocked.free, blocked.blocked);
  const Timeline timeline = listed(blocked.scene);
  EXPECT_EQ(timeline.entries[blocked.free].start, timeline.entries[blocked.blocked].end);
}

TEST(Schedule, nothing_moves_across_a_meeting_of_cores) {
  Scene scene;
  scene.dma(sbuf(0, 512), scene.hbm(128, 512));
  const auto waits = scene.copy(sbuf(32768, 512), sbuf(0, 512));
  scene.issue("core_barrier", {{"data", sbuf(131072, 1)}, {"engine", Engine::kGpsimd}});
  const auto after = scene.copy(sbuf(65536, 64), sbuf(98304, 64));
  const Timeline timeline = listed(scene);
  EXPECT_EQ(timeline.entries[after].start, timeline.entries[waits].busy_end);
}

TEST(Schedule, beta_1_is_reordered_and_nki_is_not_unless_asked) {
  Blocked blocked;
  EXPECT_EQ(clock(blocked.scene.program, blocked.scene.chip).scheduling, Scheduling::kProgram);
  blocked.scene.program.dialect = program::Dialect::kBeta1;
  EXPECT_EQ(clock(blocked.scene.program, blocked.scene.chip).scheduling, Scheduling::kList);
  EXPECT_EQ(scheduling_named("list"), Scheduling::kList);
  EXPECT_EQ(scheduling_named("fast"), std::nullopt);
}

}  // namespace
}  // namespace trnsim::timing
