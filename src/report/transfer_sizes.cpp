#include "report/transfer_sizes.h"

#include <bit>
#include <cmath>
#include <map>

namespace trnsim::report {

double piece_efficiency(const catalog::Dma& dma, double piece_bytes) {
  const double moving = piece_bytes / dma.sustained_rate;
  const double fixed = std::ceil(piece_bytes / dma.descriptor_payload_max) * dma.descriptor_fixed;
  return moving > 0 ? moving / (moving + fixed) : 0;
}

std::vector<SizeClass> transfer_sizes(const Run& run) {
  const isa::CostModel model(run.chip->core);
  std::map<std::int64_t, SizeClass> classes;
  std::map<std::int64_t, std::vector<TimeSpan>> moving;
  for (std::size_t i = 0; i < run.program->size(); ++i) {
    const program::Instruction& instruction = (*run.program)[i];
    const isa::DmaWork work =
        run.program->type(instruction).cost(run.program->args(instruction), model).dma;
    if (work.elements == 0 || work.element_bytes <= 0) continue;
    const auto from =
        static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(work.element_bytes)));
    SizeClass& all = classes.try_emplace(from, SizeClass{from}).first->second;
    ++all.transfers;
    all.pieces += work.elements;
    all.bytes += work.bytes;
    moving[from].push_back(work_of(run, run.timeline->entries[i]));
  }
  std::vector<SizeClass> list;
  for (auto& [from, all] : classes) {
    const double mean = static_cast<double>(all.bytes) / static_cast<double>(all.pieces);
    all.efficiency = piece_efficiency(run.chip->core.dma, mean);
    const double active = covered(std::move(moving[from])).ns();
    all.achieved_gb_per_s = active > 0 ? static_cast<double>(all.bytes) / active : 0;
    all.achieved = all.achieved_gb_per_s / run.chip->core.dma.core_rate();
    list.push_back(all);
  }
  return list;
}

}  // namespace trnsim::report
