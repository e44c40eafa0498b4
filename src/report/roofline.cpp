#include "report/roofline.h"

#include <algorithm>
#include <array>

namespace trnsim::report {
namespace {

// Fine enough to find prologue, steady state and tail.
constexpr std::int64_t kSlices = 48;
// A phase shorter than this many slices joins the one before it.
constexpr std::int64_t kShortest = 2;

// What the critical path lost most time to, in each of the slices of equal length.
std::array<Loss, kSlices> slices(std::span<const Step> path, std::span<const Loss> losses,
                                 Picoseconds total) {
  std::array<std::array<std::int64_t, kLossCount>, kSlices> time{};
  for (std::size_t k = 0; k < path.size(); ++k) {
    std::int64_t at = path[k].from.count;
    while (at < path[k].to.count) {
      const std::int64_t slice = std::min(kSlices - 1, at * kSlices / total.count);
      const std::int64_t slice_end =
          slice + 1 < kSlices ? (total.count * (slice + 1) + kSlices - 1) / kSlices : total.count;
      const std::int64_t until = std::max(at + 1, std::min(path[k].to.count, slice_end));
      time[slice][static_cast<std::size_t>(losses[k])] += until - at;
      at = until;
    }
  }
  std::array<Loss, kSlices> most{};
  for (std::size_t s = 0; s < most.size(); ++s)
    most[s] = static_cast<Loss>(std::max_element(time[s].begin(), time[s].end()) - time[s].begin());
  return most;
}

std::vector<Phase> phases_of(std::span<const Step> path, std::span<const Loss> losses,
                             Picoseconds total) {
  std::vector<Phase> phases;
  if (total.count == 0) return phases;
  const auto most = slices(path, losses, total);
  const auto begin_of = [&](std::int64_t slice) {
    return Picoseconds{total.count / kSlices * slice + total.count % kSlices * slice / kSlices};
  };
  for (std::int64_t first = 0; first < kSlices;) {
    std::int64_t last = first + 1;
    while (last < kSlices && most[last] == most[first]) ++last;
    const bool joins =
        !phases.empty() && (last - first < kShortest || phases.back().loss == most[first]);
    if (joins) {
      phases.back().to = begin_of(last);
    } else {
      phases.push_back({begin_of(first), begin_of(last), most[first]});
    }
    first = last;
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
