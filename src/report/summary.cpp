#include "report/summary.h"

#include <algorithm>

#include "report/critical_path.h"
#include "report/memory_use.h"

namespace trnsim::report {
namespace {

using timing::Entry;
using timing::Queue;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
double ratio(Picoseconds part, Picoseconds whole) {
  return ratio(static_cast<double>(part.count), static_cast<double>(whole.count));
}
double gb_per_s(std::int64_t bytes, Picoseconds time) {
  return ratio(static_cast<double>(bytes), time.ns());
}

void count_queues(std::span<const Run> launch, std::size_t core, const std::vector<Step>& path,
                  Summary& summary) {
  const Run& run = launch[core];
  std::array<QueueUse, timing::kQueueCount> uses{};
  std::array<std::vector<TimeSpan>, timing::kQueueCount> transfers;
  std::array<Picoseconds, timing::kQueueCount> free_since{};
  std::vector<TimeSpan> all_transfers;
  for (const Entry* each : in_order_of_starts(*run.timeline)) {
    const Entry& entry = *each;
    const auto q = static_cast<std::size_t>(entry.queue);
    QueueUse& use = uses[q];
    ++use.instructions;
    if (timing::is_dma(entry.queue)) {
      transfers[q].push_back(work_of(run, entry));
    } else {
      use.busy += work_of(run, entry).to - work_of(run, entry).from;
    }
    if (entry.left_out) continue;
    use.stalled[static_cast<std::size_t>(entry.wait)] += entry.start - free_since[q];
    free_since[q] = entry.busy_end;
  }
  for (const Step& step : path) {
    if (step.core != core) continue;
    uses[static_cast<std::size_t>(run.timeline->entries[step.instruction].queue)].critical +=
        step.time();
  }
  for (std::size_t q = 0; q < uses.size(); ++q) {
    if (uses[q].instructions == 0) continue;
    uses[q].queue = static_cast<Queue>(q);
    all_transfers.insert(all_transfers.end(), transfers[q].begin(), transfers[q].end());
    if (timing::is_dma(uses[q].queue)) uses[q].busy = covered(std::move(transfers[q]));
    uses[q].busy_share = ratio(uses[q].busy, summary.latency);
    if (uses[q].queue == Queue::kTensor) summary.tensor_utilization = uses[q].busy_share;
    summary.queues.push_back(uses[q]);
  }
  summary.transfers.active = covered(std::move(all_transfers));
}

void count_transfers(const Run& run, Summary& summary) {
  Transfers& transfers = summary.transfers;
  transfers.bytes = run.timeline->dma_bytes;
  transfers.pieces = run.timeline->dma_elements;
  transfers.piece_bytes =
      ratio(static_cast<double>(transfers.bytes), static_cast<double>(transfers.pieces));
  transfers.achieved_gb_per_s = gb_per_s(transfers.bytes, transfers.active);
  transfers.sustained_gb_per_s = run.chip->core.dma.core_rate();
  transfers.efficiency = ratio(transfers.achieved_gb_per_s, transfers.sustained_gb_per_s);
  transfers.hbm_bytes = run.timeline->hbm_bytes;
  transfers.hbm_gb_per_s = gb_per_s(transfers.hbm_bytes, summary.latency);
  transfers.share_of_core_dma = ratio(transfers.hbm_gb_per_s, transfers.sustained_gb_per_s);
  transfers.share_of_chip_hbm = ratio(transfers.hbm_gb_per_s, run.chip->hbm.bandwidth);
}

std::vector<LossUse> rank_losses(const Losses& losses, Picoseconds latency) {
  std::vector<LossUse> list;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const auto loss = static_cast<Loss>(i);
    if (loss == Loss::kLaunch || losses[i].count == 0) continue;
    list.push_back({loss, losses[i], ratio(losses[i], latency)});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.time > b.time; });
  return list;
}

}  // namespace

Summary summarize(std::span<const Run> launch, std::size_t core_index) {
  const Run& run = launch[core_index];
  const catalog::Core& core = run.chip->core;
  const timing::Timeline& timeline = *run.timeline;
  Summary summary;
  summary.kernel = run.kernel;
  summary.chip = run.chip->name;
  summary.generation = core.generation;
  summary.core = run.core;
  summary.cores = launch.size();
  summary.instructions = static_cast<std::int64_t>(timeline.entries.size());
  summary.latency = timeline.total;
  summary.launch = timeline.launch;
  summary.scheduling = timeline.scheduling;
  summary.flops = timeline.flops;
  summary.peak_published = core.tensor.peak_bf16.has_value();
  summary.peak_bf16_tflops =
      summary.peak_published ? core.tensor.peak_bf16->value : core.tensor.bf16_tflops();
  // 1 TFLOPS is 1000 operations per ns.
  summary.model_flops_utilization = ratio(static_cast<double>(timeline.flops),
                                          summary.latency.ns() * summary.peak_bf16_tflops * 1e3);
  summary.table_loads = timeline.table_load_count;
  summary.table_load_time = timeline.table_loads;
  summary.sbuf = {peak_use(*run.program, memory::Space::kSbuf),
                  static_cast<std::int64_t>(core.sbuf.usable_bytes_per_partition)};
  summary.psum = {peak_use(*run.program, memory::Space::kPsum),
                  static_cast<std::int64_t>(core.psum.banks * core.psum.bank_bytes)};
  const std::vector<Step> path = critical_path(launch, core_index);
  count_queues(launch, core_index, path, summary);
  count_transfers(run, summary);
  summary.losses_by_cause = losses(launch, path);
  summary.losses = rank_losses(summary.losses_by_cause, summary.latency);
  summary.lines = line_uses(launch, core_index, path);
  constexpr std::size_t kListed = 10;
  if (summary.lines.size() > kListed) summary.lines.resize(kListed);
  return summary;
}

}  // namespace trnsim::report
