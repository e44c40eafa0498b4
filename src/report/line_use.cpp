#include "report/line_use.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "report/instruction_text.h"

namespace trnsim::report {
namespace {

double ratio(Picoseconds part, Picoseconds whole) {
  return whole.count > 0 ? static_cast<double>(part.count) / static_cast<double>(whole.count) : 0;
}

}  // namespace

std::vector<LineUse> line_uses(std::span<const Run> launch, std::size_t core,
                               std::span<const Step> path) {
  const Run& run = launch[core];
  const isa::CostModel model(run.chip->core);
  std::map<program::Site, LineUse> lines;
  std::array<std::optional<Picoseconds>, timing::kQueueCount> free_since{};
  Picoseconds all_busy, all_stalled;
  for (const timing::Entry* next : in_order_of_starts(*run.timeline)) {
    const timing::Entry& entry = *next;
    const auto i = static_cast<std::size_t>(next - run.timeline->entries.data());
    const auto [from, to] = work_of(run, entry);
    const program::Instruction& instruction = (*run.program)[i];
    const isa::Cost cost =
        run.program->type(instruction).cost(run.program->args(instruction), model);
    auto& free = free_since[static_cast<std::size_t>(entry.queue)];
    const Picoseconds stalled = free ? entry.start - *free : Picoseconds{};
    LineUse& line = lines[site(*run.program, i)];
    ++line.instructions;
    line.busy += to - from;
    if (entry.left_out) continue;  // it is nowhere in the queue's order
    line.stalled += stalled;
    line.bytes += cost.dma.bytes;
    line.flops += cost.flops;
    all_busy += to - from;
    all_stalled += stalled;
    free = entry.busy_end;
  }
  for (const Step& step : path)
    lines[site(*launch[step.core].program, step.instruction)].critical += step.time();
  std::vector<LineUse> list;
  for (auto& [where, line] : lines) {
    line.site = where;
    line.critical_share = ratio(line.critical, run.timeline->total);
    line.busy_share = ratio(line.busy, all_busy);
    line.stalled_share = ratio(line.stalled, all_stalled);
    list.push_back(line);
  }
  std::stable_sort(list.begin(), list.end(), [](const LineUse& a, const LineUse& b) {
    return std::pair(a.critical, a.busy) > std::pair(b.critical, b.busy);
  });
  return list;
}

}  // namespace trnsim::report
