#include "ranks/ranks.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "fabric/engine.h"

namespace trnsim::ranks {
namespace {

class Together {
 public:
  Together(std::span<const Programs> launches, const catalog::Chip& chip,
           const timing::Options& options)
      : launches_(launches),
        chip_(chip),
        options_(options),
        timelines_(launches.size()),
        stale_(launches.size(), true) {}

  const std::vector<timing::Timeline>& timelines(std::size_t launch) {
    if (stale_[launch]) {
      const std::vector<const program::Program*> programs(launches_[launch].begin(),
                                                          launches_[launch].end());
      timelines_[launch] = timing::clock(programs, chip_, options_);
      stale_[launch] = false;
    }
    return timelines_[launch];
  }

  const timing::Entry& entry(const Place& place) {
    return timelines(place.launch)[place.core].entries[place.instruction];
  }

  // Lets a rank's part last that much longer than its own DMA.
  void set_longer(const Place& place, Picoseconds by) {
    program::Program& program = *launches_[place.launch][place.core];
    const program::Instruction instruction = program[place.instruction];
    const isa::InstructionType& type = program.type(instruction);
    const auto field = std::find_if(type.fields.begin(), type.fields.end(),
                                    [](const auto& f) { return f.name == "fabric_ns"; });
    if (field == type.fields.end()) internal_error("{} is no collective", type.info.name);
    std::vector<std::byte> args(type.size());
    std::memcpy(args.data(), program.args(instruction), args.size());
    const double ns = by.ns();
    std::memcpy(args.data() + field->offset, &ns, sizeof ns);
    program.replace(place.instruction, type, instruction.engine, args.data());
    stale_[place.launch] = true;
  }

 private:
  std::span<const Programs> launches_;
  const catalog::Chip& chip_;
  const timing::Options& options_;
  std::vector<std::vector<timing::Timeline>> timelines_;
  std::vector<bool> stale_;
};

}  // namespace

std::vector<std::vector<timing::Timeline>> clock(std::span<const Programs> launches,
                                                 std::span<const Step> steps,
                                                 const fabric::Topology& topology,
                                                 const catalog::Chip& chip,
                                                 const timing::Options& options) {
  Together together(launches, chip, options);
  for (const Step& step : steps)
    for (const Place& place : step.places) together.set_longer(place, {});
  for (const Step& step : steps) {
    fabric::ClockOptions arrivals;
    for (const Place& place : step.places) arrivals.arrivals.push_back(together.entry(place).start);
    const fabric::Plan plan = fabric::make_plan(topology, step.request);
    const fabric::Cost cost = fabric::clock(topology, plan, arrivals);
    for (std::size_t i = 0; i < step.places.size(); ++i) {
      const Picoseconds alone = together.entry(step.places[i]).end;
      if (cost.ends[i] > alone) together.set_longer(step.places[i], cost.ends[i] - alone);
    }
  }
  std::vector<std::vector<timing::Timeline>> all;
  for (std::size_t launch = 0; launch < launches.size(); ++launch)
    all.push_back(together.timelines(launch));
  return all;
}

}  // namespace trnsim::ranks
