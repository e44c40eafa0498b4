// The summary's numbers, each against a program where it can be worked out by hand.
#include "report/summary.h"

#include <gmock/gmock.h>

#include "examples.h"

namespace trnsim::report {
namespace {

const QueueUse& use_of(const Summary& summary, timing::Queue queue) {
  for (const QueueUse& use : summary.queues) {
    if (use.queue == queue) return use;
  }
  throw std::out_of_range("no such queue");
}

TEST(Summary, of_nothing_is_empty_but_valid) {
  Scene scene;
  const Summary summary = summarize(run_of(scene));
  EXPECT_EQ(summary.latency.count, 0);
  EXPECT_TRUE(summary.queues.empty());
  EXPECT_EQ(summary.model_flops_utilization, 0);
  EXPECT_TRUE(summary.losses.empty());
}

TEST(Summary, busy_time_is_work_without_waits_and_loads_of_tables) {
  Scene scene;
  load_multiply_store(scene);
  const Summary summary = summarize(run_of(scene));
  const timing::Entry& activation = scene.at(2);
  EXPECT_EQ(use_of(summary, timing::Queue::kScalar).busy.count,
            (activation.busy_end - activation.start - activation.prelude).count);
  EXPECT_EQ(summary.table_loads, 1);
  EXPECT_EQ(summary.queues.size(), 4u);
  for (const QueueUse& use : summary.queues) EXPECT_LE(use.busy_share, 1.0);
}

TEST(Summary, time_with_several_transfers_under_way_counts_once) {
  Scene scene;
  for (int i = 0; i < 8; ++i) scene.dma(sbuf(16384 * i, 4096), scene.hbm(128, 4096));
  const Summary summary = summarize(run_of(scene));
  EXPECT_LE(summary.transfers.active.count, summary.latency.count);
  EXPECT_EQ(use_of(summary, timing::Queue::kDmaLoad).busy.count, summary.transfers.active.count);
  EXPECT_EQ(summary.transfers.bytes, 8ll * 128 * 4096 * 4);
  EXPECT_EQ(summary.transfers.piece_bytes, 16384);
  EXPECT_GT(summary.transfers.efficiency, 0.95);
  EXPECT_LE(summary.transfers.efficiency, 1.0);
  EXPECT_EQ(summary.losses.front().loss, Loss::kDmaBandwidth);
}

TEST(Summary, mfu_is_flops_by_the_published_peak_of_one_core) {
  Scene scene;
  scene.matmul(psum(0, 512), sbuf(0, 128), sbuf(4096, 512));
  const Summary summary = summarize(run_of(scene));
  EXPECT_EQ(summary.flops, 2ll * 128 * 128 * 512);
  EXPECT_EQ(summary.peak_bf16_tflops, scene.core().tensor.peak_bf16->value);
  EXPECT_DOUBLE_EQ(summary.model_flops_utilization, static_cast<double>(summary.flops) /
                                                        (summary.latency.ns() * 1e-9) /
                                                        (summary.peak_bf16_tflops * 1e12));
}

TEST(Summary, short_pieces_are_bound_by_descriptors) {
  Scene scene;
  isa::Tile source = scene.hbm(128, 4096);
  source.sizes[1] = 2048;
  source.strides[1] *= 2;
  scene.dma(sbuf(0, 2048), source);
  const Summary summary = summarize(run_of(scene));
  EXPECT_EQ(summary.losses.front().loss, Loss::kDmaSmall);
  EXPECT_EQ(summary.transfers.piece_bytes, 4);
}

TEST(Summary, stalls_carry_their_reason) {
  Scene scene;
  const auto load = scene.dma(sbuf(0, 512), scene.hbm(128, 512));
  scene.copy(sbuf(65536, 512), sbuf(0, 512));
  const QueueUse vector = use_of(summarize(run_of(scene)), timing::Queue::kVector);
  EXPECT_EQ(vector.stalled[static_cast<std::size_t>(timing::Wait::kData)].count,
            scene.at(load).end.count);
}

TEST(Summary, shares_add_up_to_one) {
  Scene scene;
  jumble(scene, 7, 300);
  const Summary summary = summarize(run_of(scene));
  double losses = 0, critical_lines = 0;
  for (const LossUse& use : summary.losses) losses += use.share;
  for (const LineUse& line : summary.lines) critical_lines += line.critical_share;
  EXPECT_NEAR(losses, 1, 1e-9);
  EXPECT_EQ(summary.lines.size(), 10u);
  EXPECT_LE(critical_lines, 1.0);
  for (std::size_t i = 1; i < summary.lines.size(); ++i) {
    EXPECT_GE(summary.lines[i - 1].critical.count, summary.lines[i].critical.count);
  }
}

TEST(Summary, instructions_of_one_line_are_added_up) {
  Scene scene;
  const auto first = scene.copy(sbuf(0, 512), sbuf(32768, 512));
  program::Program twice;
  const auto site = twice.intern({"kernel.py", 5, "kernel"});
  for (int i = 0; i < 2; ++i) {
    twice.append(scene.program.type(scene.program[first]), scene.program[first].engine, site,
                 scene.program.args(scene.program[first]));
  }
  const timing::Timeline timeline = timing::clock(twice, scene.chip);
  const Summary summary = summarize({"kernel", &twice, &timeline, &scene.chip, 0});
  ASSERT_EQ(summary.lines.size(), 1u);
  EXPECT_EQ(summary.lines[0].instructions, 2);
  EXPECT_DOUBLE_EQ(summary.lines[0].critical_share, 1);
  EXPECT_DOUBLE_EQ(summary.lines[0].busy_share, 1);
}

}  // namespace
}  // namespace trnsim::report
