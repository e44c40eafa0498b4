#include "fabric/fold.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "fabric/rank_layout.h"

namespace trnsim::fabric {
namespace {

bool divides_evenly(const Plan& plan) {
  std::int64_t pieces = 1;
  std::int64_t channels = 1;
  for (const Level& level : plan.levels) {
    pieces *= level.schedule->members();
    channels = std::lcm(channels, level.schedule->channels());
  }
  if (plan.levels.empty())
    for (const Stage& stage : plan.stages) pieces *= stage.schedule->members();
  return plan.request.elements % (pieces * channels) == 0;
}

bool crosses_systems(const Plan& plan, std::int64_t per_system) {
  return std::any_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& stage) {
    return stage.stride * stage.schedule->members() > per_system;
  });
}

// How many ranks of each group stand in one system, if every system holds the same part of every
// group; otherwise 0.
std::int64_t per_system_of_group(const Topology& topology, const Request& request) {
  const std::int64_t per_system = topology.ranks_per_system();
  if (request.ranks.empty())
    return request.groups == 1 && request.size % per_system == 0 ? per_system : 0;
  std::int64_t part = 0;
  while (part < request.size && request.rank(part) < per_system) ++part;
  if (part == 0 || request.size % part != 0) return 0;
  for (std::int64_t i = 0; i < request.size * request.groups; ++i) {
    const std::int64_t member = i % request.size, first = i - member + member % part;
    if (request.rank(first) >= per_system ||
        request.rank(i) != request.rank(first) + member / part * per_system)
      return 0;
  }
  return part;
}

// Whether shifting the systems maps every stage onto itself: stages within a system do not see it,
// and those between systems are the same for every member. One ring through all systems visits each
// of them in the same order, and in a direct exchange all members do the same.
bool shifts(const Topology& topology, const Plan& plan, std::int64_t part) {
  const Request& request = plan.request;
  const bool direct = request.collective == Collective::kAllToAll && !request.schedule;
  return std::all_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& stage) {
    const std::int64_t span = stage.stride * stage.schedule->members();
    if (span <= part) return true;
    if (!stage.schedule->is_uniform()) return false;
    if (stage.stride == part || (direct && span == request.size)) return true;
    const RankLayout layout = rank_layout(topology, request);
    return !request.schedule && std::string_view(stage.schedule->name()) == "ring" &&
           stage.stride == 1 && layout.even && layout.systems == request.size / part;
  });
}

// One stage per axis that wraps around (or has a switch), and one among the ranks of a chip.
bool goes_by_axes(const Topology& topology, const Plan& plan) {
  return std::all_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& stage) {
    if (!stage.schedule->is_uniform()) return false;
    const std::int64_t members = stage.schedule->members();
    if (stage.stride == 1 && members == topology.ranks_per_chip && members > 1) return true;
    std::int64_t stride = topology.ranks_per_chip;
    for (const Axis& axis : topology.axes) {
      if (stage.stride == stride && members == axis.size) return axis.kind != AxisKind::kLine;
      stride *= axis.size;
    }
    return stage.stride == stride;  // between systems
  });
}

void keep_every(std::int64_t count, std::vector<std::int64_t>* representatives) {
  representatives->resize(static_cast<std::size_t>(count));
  std::iota(representatives->begin(), representatives->end(), std::int64_t{0});
}

// Groups that stay within a system: one healthy system stands for all, each broken one for itself.
bool fold_alike_systems(const Topology& topology, const Plan& plan, Fold* fold) {
  const std::int64_t per_system = fold->ranks_per_system;
  const Request& request = plan.request;
  if (!request.ranks.empty() || per_system % request.size != 0 ||
      request.size * request.groups < per_system)
    return false;
  const std::int64_t systems = request.size * request.groups / per_system;
  if (systems < 2 || systems * per_system != request.size * request.groups) return false;
  std::vector<bool> broken(static_cast<std::size_t>(systems), false);
  const auto mark = [&](std::int64_t chip) {
    const std::int64_t system = chip / fold->chips_per_system;
    if (system < systems) broken[static_cast<std::size_t>(system)] = true;
  };
  for (const std::int64_t chip : topology.down_chips) mark(chip);
  for (const auto& [from, to] : topology.down_links) mark(from);
  std::int64_t healthy = -1;
  fold->system_of_class.resize(static_cast<std::size_t>(systems));
  for (std::int64_t system = 0; system < systems; ++system) {
    if (!broken[static_cast<std::size_t>(system)] && healthy < 0) healthy = system;
    const bool stands = broken[static_cast<std::size_t>(system)] || healthy == system;
    fold->system_of_class[static_cast<std::size_t>(system)] = stands ? system : healthy;
    for (std::int64_t i = 0; stands && i < per_system; ++i)
      fold->representatives.push_back(system * per_system + i);
  }
  fold->kind = FoldKind::kAlikeSystems;
  return true;
}

}  // namespace

std::int64_t Fold::rank(std::int64_t rank) const {
  switch (kind) {
    case FoldKind::kNone:
      return rank;
    case FoldKind::kAlikeSystems:
      return system_of_class[static_cast<std::size_t>(rank / ranks_per_system)] * ranks_per_system +
             rank % ranks_per_system;
    case FoldKind::kSystems:
      return rank / group_size * group_size + rank % group_size % group_per_system;
    case FoldKind::kChips:
      return rank % ranks_per_chip;
  }
  return rank;
}

std::int64_t Fold::resource(std::int64_t resource, const ResourceMap& map) const {
  const std::int64_t system = resource / per_system, local = resource % per_system;
  switch (kind) {
    case FoldKind::kNone:
      return resource;
    case FoldKind::kAlikeSystems:
      return system_of_class[static_cast<std::size_t>(system)] * per_system + local;
    case FoldKind::kSystems:
      return local;
    case FoldKind::kChips:
      break;
  }
  if (local >= map.mesh_start) return map.mesh_start + (local - map.mesh_start) % ranks_per_chip;
  if (local >= map.card_start)
    return local < map.card_start + map.cards ? map.card_out(0) : map.card_in(0);
  if (local >= map.memory_start) return map.memory(0);
  return local - local % (2 * map.chips) + local % 2;
}

Fold find_fold(const Topology& topology, const Plan& plan, bool allowed) {
  const Request& request = plan.request;
  const std::int64_t all = request.size * request.groups;
  Fold fold;
  fold.ranks_per_system = topology.ranks_per_system();
  fold.chips_per_system = topology.chips();
  fold.ranks_per_chip = topology.ranks_per_chip;
  fold.per_system = ResourceMap(topology).per_system;
  const std::int64_t per_system = fold.ranks_per_system;
  if (allowed && !crosses_systems(plan, per_system) && fold_alike_systems(topology, plan, &fold))
    return fold;
  if (allowed && topology.whole() && divides_evenly(plan)) {
    const std::int64_t part = per_system_of_group(topology, request);
    const bool own_cards = topology.systems == 1 || topology.network.cards == topology.chips();
    if (request.ranks.empty() && part > 0 && all == topology.ranks() && own_cards &&
        goes_by_axes(topology, plan)) {
      fold.kind = FoldKind::kChips;
      keep_every(topology.ranks_per_chip, &fold.representatives);
      return fold;
    }
    if (part > 0 && request.size > part && shifts(topology, plan, part)) {
      fold.kind = FoldKind::kSystems;
      fold.group_size = request.size;
      fold.group_per_system = part;
      for (std::int64_t group = 0; group < request.groups; ++group)
        for (std::int64_t i = 0; i < part; ++i)
          fold.representatives.push_back(group * request.size + i);
      return fold;
    }
  }
  keep_every(all, &fold.representatives);
  return fold;
}

}  // namespace trnsim::fabric
