// Cores that run side by side: what they share, and where they meet.
#include <vector>

#include "scene.h"

namespace trnsim::timing {
namespace {

struct SideBySide {
  Scene cores[2];

  std::vector<Timeline> timelines() {
    const program::Program* programs[] = {&cores[0].program, &cores[1].program};
    return clock(programs, cores[0].chip);
  }
  void barrier(int core) {
    const Tile data = cores[core].hbm(1, 1);
    cores[core].issue("core_barrier", {{"data", data}});
  }
};

void work(Scene& scene, int copies) {
  for (int i = 0; i < copies; ++i) scene.copy(sbuf(0, 512), sbuf(8192, 512), Engine::kGpsimd);
}

TEST(Cores, without_a_meeting_do_not_notice_each_other) {
  SideBySide both;
  work(both.cores[0], 3);
  both.cores[1].matmul(psum(0, 512), sbuf(0, 128), sbuf(1024, 512));
  const std::vector<Timeline> together = both.timelines();
  for (int core = 0; core < 2; ++core) {
    const Timeline& alone = both.cores[core].timeline();
    ASSERT_EQ(together[core].entries.size(), alone.entries.size());
    EXPECT_EQ(together[core].total.count, alone.total.count);
    for (std::size_t i = 0; i < alone.entries.size(); ++i)
      EXPECT_EQ(together[core].entries[i].start.count, alone.entries[i].start.count);
  }
}

TEST(Cores, leave_a_barrier_when_the_later_one_has_come) {
  SideBySide both;
  work(both.cores[0], 1);
  work(both.cores[1], 4);
  both.barrier(0);
  both.barrier(1);
  work(both.cores[0], 1);
  const std::vector<Timeline> times = both.timelines();
  const Entry &early = times[0].entries[1], &late = times[1].entries[4];
  EXPECT_EQ(early.start.count, times[1].entries[3].busy_end.count);
  EXPECT_EQ(early.start.count, late.start.count);
  EXPECT_EQ(early.end.count - early.start.count,
            from_ns(*both.cores[0].core().sync.core_barrier).count);
  EXPECT_EQ(early.wait, Wait::kBarrier);
  EXPECT_EQ(early.waited_core, 1);
  EXPECT_EQ(early.waited_for, 4u);
  EXPECT_EQ(late.wait, Wait::kEngine);
  EXPECT_EQ(late.waited_core, 1);
  EXPECT_EQ(times[0].entries[2].start.count, early.busy_end.count);
}

TEST(Cores, go_on_with_other_engines_during_a_barrier) {
  SideBySide both;
  work(both.cores[1], 4);
  both.barrier(0);
  both.barrier(1);
  both.cores[0].copy(sbuf(0, 512), sbuf(8192, 512), Engine::kVector);
  EXPECT_EQ(both.timelines()[0].entries[1].start.count, 0);
}

TEST(Cores, meet_as_often_as_both_have_recorded) {
  SideBySide both;
  both.barrier(0);
  both.barrier(0);
  both.barrier(1);
  const std::vector<Timeline> times = both.timelines();
  EXPECT_EQ(times[0].entries.size(), 2u);
  EXPECT_EQ(times[0].entries[1].start.count, times[0].entries[0].busy_end.count);
}

TEST(Cores, take_turns_at_the_memory) {
  SideBySide both;
  for (Scene& scene : both.cores) {
    scene.chip.hbm.bandwidth.value = 4;  // a stack gives 1 GB/s, less than the engines
    scene.dma(sbuf(0, 512), scene.hbm(128, 512));
  }
  const std::vector<Timeline> times = both.timelines();
  const Entry &first = times[0].entries[0], &second = times[1].entries[0];
  EXPECT_EQ(first.served_after, kNobody);
  EXPECT_EQ(second.served_after, 0u);
  EXPECT_EQ(second.served_core, 0);
  EXPECT_EQ((second.end - first.end).count, from_ns(128 * 512 * 4.0).count);
}

TEST(Cores, give_the_same_times_again) {
  SideBySide both;
  for (int round = 0; round < 5; ++round) {
    work(both.cores[round % 2], round);
    both.barrier(0);
    both.barrier(1);
  }
  const std::vector<Timeline> first = both.timelines(), second = both.timelines();
  for (int core = 0; core < 2; ++core) {
    for (std::size_t i = 0; i < first[core].entries.size(); ++i)
      EXPECT_EQ(first[core].entries[i].start.count, second[core].entries[i].start.count);
  }
}

}  // namespace
}  // namespace trnsim::timing
