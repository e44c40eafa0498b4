#include "report/roofline.h"

#include <algorithm>
#include <array>

namespace trnsim::report {
namespace {

// Fine enough to find prologue, steady state and tail.
constexpr std::int64_t kSlices = 48;
// A phase shorter than this many slices, 6 % of the run, joins a neighbour.
constexpr std::int64_t kShortest = 3;
// What an author can keep in mind: of more, the shortest join their neighbours.
constexpr std::size_t kMostPhases = 6;

using LossTimes = std::array<std::int64_t, kLossCount>;

// A stretch of slices.
struct Stretch {
  std::int64_t slices;
  LossTimes time;
  Loss most() const {
    return static_cast<Loss>(std::max_element(time.begin(), time.end()) - time.begin());
  }
};

// What the critical path lost time to, in each of the slices of equal length.
std::vector<Stretch> slices(std::span<const Step> path, std::span<const Loss> losses,
                            Picoseconds total) {
  std::vector<Stretch> slices(kSlices, Stretch{1, {}});
  for (std::size_t k = 0; k < path.size(); ++k) {
    std::int64_t at = path[k].from.count;
    while (at < path[k].to.count) {
      const std::int64_t slice = std::min(kSlices - 1, at * kSlices / total.count);
      const std::int64_t slice_end =
          slice + 1 < kSlices ? (total.count * (slice + 1) + kSlices - 1) / kSlices : total.count;
      const std::int64_t until = std::max(at + 1, std::min(path[k].to.count, slice_end));
      slices[slice].time[static_cast<std::size_t>(losses[k])] += until - at;
      at = until;
    }
  }
  return slices;
}

// Joins the second of two neighbours to the first.
void join(std::vector<Stretch>& list, std::size_t first) {
  list[first].slices += list[first + 1].slices;
  for (std::size_t loss = 0; loss < kLossCount; ++loss)
    list[first].time[loss] += list[first + 1].time[loss];
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(first) + 1);
}

void join_alike(std::vector<Stretch>& list) {
  for (std::size_t k = 0; k + 1 < list.size();) {
    if (list[k].most() == list[k + 1].most()) {
      join(list, k);
    } else {
      ++k;
    }
  }
}

// Neighbours that lost most to the same are one phase. Then the shortest joins its shorter
// neighbour, until all are long and few: engines that take turns make one phase, not one each turn.
std::vector<Stretch> stretches(std::vector<Stretch> list) {
  join_alike(list);
  while (list.size() > 1) {
    const auto shortest = std::ranges::min_element(list, {}, &Stretch::slices);
    if (shortest->slices >= kShortest && list.size() <= kMostPhases) break;
    const auto at = static_cast<std::size_t>(shortest - list.begin());
    const bool with_next =
        at == 0 || (at + 1 < list.size() && list[at + 1].slices < list[at - 1].slices);
    join(list, with_next ? at : at - 1);
    join_alike(list);
  }
  return list;
}

std::vector<Phase> phases_of(std::span<const Step> path, std::span<const Loss> losses,
                             Picoseconds total) {
  std::vector<Phase> phases;
  if (total.count == 0) return phases;
  const auto begin_of = [&](std::int64_t slice) {
    return Picoseconds{total.count / kSlices * slice + total.count % kSlices * slice / kSlices};
  };
  std::int64_t first = 0;
  for (const Stretch& stretch : stretches(slices(path, losses, total))) {
    phases.push_back({begin_of(first), begin_of(first + stretch.slices), stretch.most()});
    first += stretch.slices;
  }
  return phases;
}

void add_part(Phase& phase, const TimeSpan& work, double flops, double bytes) {
  const Picoseconds from = std::max(phase.from, work.from), to = std::min(phase.to, work.to);
  if (to <= from) return;
  const double part =
      static_cast<double>((to - from).count) / static_cast<double>((work.to - work.from).count);
  phase.flops += flops * part;
  phase.hbm_bytes += bytes * part;
}

std::vector<ComputeRoof> compute_roofs(const catalog::TensorEngine& tensor) {
  const double bf16 = tensor.peak_bf16 ? tensor.peak_bf16->value : tensor.bf16_tflops();
  std::vector<ComputeRoof> roofs{{"bf16", bf16}};
  roofs.push_back(
      {"fp32", tensor.peak_fp32 ? tensor.peak_fp32->value : bf16 / tensor.fp32_slowdown});
  if (tensor.peak_fp8 && *tensor.peak_fp8 > bf16) roofs.push_back({"fp8", *tensor.peak_fp8});
  return roofs;
}

}  // namespace

Roofline roofline(std::span<const Run> launch, std::size_t core, std::span<const Step> path) {
  const Run& run = launch[core];
  const catalog::Core& spec = run.chip->core;
  const isa::CostModel model(spec);
  Roofline result;
  result.compute = compute_roofs(spec.tensor);
  result.memory = {{"DMA engines of the core", spec.dma.core_rate()},
                   {"HBM of the chip", run.chip->hbm.bandwidth}};
  const std::vector<Loss> losses = loss_of_each(launch, path);
  result.phases = phases_of(path, losses, run.timeline->total);
  result.run = {{}, run.timeline->total, Loss::kIdle};
  result.run.flops = static_cast<double>(run.timeline->flops);
  result.run.hbm_bytes = static_cast<double>(run.timeline->hbm_bytes);
  for (std::size_t i = 0; i < run.timeline->entries.size(); ++i) {
    const timing::Entry& entry = run.timeline->entries[i];
    const program::Instruction& instruction = (*run.program)[i];
    const isa::Cost cost =
        run.program->type(instruction).cost(run.program->args(instruction), model);
    const std::int64_t hbm = cost.dma.hbm_read + cost.dma.hbm_written;
    const std::int64_t flops = entry.queue == timing::Queue::kTensor ? cost.flops : 0;
    if (flops == 0 && hbm == 0) continue;
    const TimeSpan work = work_of(run, entry);
    for (Phase& phase : result.phases)
      add_part(phase, work, static_cast<double>(flops), static_cast<double>(hbm));
  }
  return result;
}

}  // namespace trnsim::report
