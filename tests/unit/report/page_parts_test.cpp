// What the views of the report page show beside the timeline: lines, sizes of transfers, phases
// under the roofs, two runs side by side; and what the verdict names as its evidence.
#include <gmock/gmock.h>

#include "examples.h"
#include "report/comparison.h"
#include "report/line_use.h"
#include "report/roofline.h"
#include "report/summary.h"
#include "report/transfer_sizes.h"
#include "report/verdict.h"

namespace trnsim::report {
namespace {

using testing::HasSubstr;

std::vector<LineUse> lines_of(const Run& run) {
  return line_uses({&run, 1}, 0, critical_path({&run, 1}, 0));
}

const LineUse& line(const std::vector<LineUse>& lines, int number) {
  for (const LineUse& use : lines) {
    if (use.site.line == number) return use;
  }
  throw std::out_of_range("no such line");
}

TEST(LineUse, adds_up_to_the_latency_and_counts_bytes_and_operations_where_they_are) {
  Scene scene;
  load_multiply_store(scene);
  const report::Run run = run_of(scene);
  const std::vector<LineUse> lines = lines_of(run);
  Picoseconds critical;
  double share = 0;
  for (const LineUse& use : lines) {
    critical += use.critical;
    share += use.critical_share;
  }
  EXPECT_EQ(critical.count, scene.timeline().total.count);
  EXPECT_NEAR(share, 1, 1e-12);
  EXPECT_EQ(line(lines, 1).bytes, 128 * 512 * 4);
  EXPECT_EQ(line(lines, 2).flops, 2ll * 128 * 128 * 512);
  EXPECT_EQ(line(lines, 2).bytes, 0);
}

TEST(LineUse, is_stalled_only_between_instructions_of_a_queue) {
  Scene scene;
  scene.dma(sbuf(0, 512), scene.hbm(128, 512));
  scene.copy(sbuf(4096, 512), sbuf(0, 512));  // the first of its queue: nothing stood still for it
  scene.dma(sbuf(8192, 512), scene.hbm(128, 512));
  scene.copy(sbuf(12288, 512), sbuf(8192, 512));
  const std::vector<LineUse> lines = lines_of(run_of(scene));
  EXPECT_EQ(line(lines, 2).stalled.count, 0);
  EXPECT_EQ(line(lines, 4).stalled.count, (scene.at(3).start - scene.at(1).busy_end).count);
}

TEST(TransferSizes, are_classes_of_contiguous_pieces) {
  Scene scene;
  scene.dma(sbuf(0, 512), scene.hbm(128, 512));        // 2 KiB for each partition
  scene.dma(sbuf(4096, 600, 64), scene.hbm(64, 600));  // 2,400 bytes: the same class
  scene.dma(sbuf(8192, 16), scene.hbm(128, 16));
  const std::vector<SizeClass> sizes = transfer_sizes(run_of(scene));
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_EQ(sizes[0].piece_bytes, 64);
  EXPECT_EQ(sizes[0].transfers, 1);
  EXPECT_EQ(sizes[0].bytes, 128 * 64);
  EXPECT_EQ(sizes[1].piece_bytes, 2048);
  EXPECT_EQ(sizes[1].transfers, 2);
  EXPECT_EQ(sizes[1].bytes, 128 * 2048 + 64 * 2400);
  EXPECT_LT(sizes[0].efficiency, sizes[1].efficiency);
}

TEST(TransferSizes, longer_pieces_reach_more_of_the_rate_and_never_more_than_all) {
  const catalog::Dma dma = Scene().core().dma;
  double before = 0;
  for (double bytes = 4; bytes <= dma.descriptor_payload_max; bytes *= 2) {
    const double reached = piece_efficiency(dma, bytes);
    EXPECT_GT(reached, before);
    EXPECT_LE(reached, 1);
    before = reached;
  }
}

TEST(Roofline, phases_hold_all_work_of_the_run_and_follow_each_other) {
  Scene scene;
  jumble(scene, 3, 200);
  const report::Run run = run_of(scene);
  const Roofline roofs = roofline({&run, 1}, 0, critical_path({&run, 1}, 0));
  ASSERT_FALSE(roofs.phases.empty());
  EXPECT_EQ(roofs.phases.front().from.count, 0);
  EXPECT_EQ(roofs.phases.back().to.count, roofs.run.to.count);
  double flops = 0, bytes = 0;
  for (std::size_t i = 0; i < roofs.phases.size(); ++i) {
    if (i > 0) {
      EXPECT_EQ(roofs.phases[i].from.count, roofs.phases[i - 1].to.count);
    }
    flops += roofs.phases[i].flops;
    bytes += roofs.phases[i].hbm_bytes;
  }
  EXPECT_NEAR(flops, roofs.run.flops, 1e-6 * roofs.run.flops);
  EXPECT_NEAR(bytes, roofs.run.hbm_bytes, 1e-6 * roofs.run.hbm_bytes);
  EXPECT_EQ(roofs.run.flops, static_cast<double>(scene.timeline().flops));
}

TEST(Roofline, of_nothing_has_no_phases) {
  Scene scene;
  const report::Run run = run_of(scene);
  EXPECT_TRUE(roofline({&run, 1}, 0, {}).phases.empty());
}

TEST(Comparison, names_the_loss_that_the_difference_lies_in) {
  Scene before, after;
  load_multiply_store(before);
  load_multiply_store(after);
  after.core().scalar.table_load.value = 0;
  const report::Run slow = run_of(before), fast = run_of(after);
  const Comparison comparison = compare({&slow, 1}, {&fast, 1});
  ASSERT_EQ(comparison.launches.size(), 1u);
  const LaunchChange& change = comparison.launches.front();
  EXPECT_EQ(change.losses.front().loss, Loss::kTableLoads);
  EXPECT_EQ(change.losses.front().after.count, 0);
  EXPECT_EQ((change.before - change.after).count, change.losses.front().before.count);
  EXPECT_GT(change.speedup(), 1);
}

TEST(Comparison, counts_launches_without_a_partner) {
  Scene scene;
  load_multiply_store(scene);
  const std::vector<report::Run> two{run_of(scene), run_of(scene)};
  const Comparison comparison = compare(two, std::span(two).first(1));
  EXPECT_EQ(comparison.launches.size(), 1u);
  EXPECT_EQ(comparison.unpaired_before, 1u);
  EXPECT_EQ(comparison.unpaired_after, 0u);
}

TEST(Verdict, names_what_its_first_change_would_mend_and_the_line) {
  Scene scene;
  using enum numerics::ActivationFunction;
  for (int i = 0; i < 8; ++i)
    scene.activate(sbuf(64 * i, 16), sbuf(8192, 16), i % 2 == 0 ? kExp : kGelu);
  const report::Run run = run_of(scene);
  const Verdict verdict = judge({&run, 1}, summarize(run));
  ASSERT_FALSE(verdict.advice.empty());
  EXPECT_EQ(verdict.advice.front().obstacle->name, "grouped-activations");
  EXPECT_THAT(verdict.sentence, HasSubstr(" go to table loads, above"));
  EXPECT_THAT(verdict.sentence, HasSubstr("all at kernel.py:1"));
}

}  // namespace
}  // namespace trnsim::report
