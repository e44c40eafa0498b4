#include "fabric/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/error.h"

namespace trnsim::fabric {
namespace {

int product(const std::vector<Axis>& axes, std::size_t count) {
  int chips = 1;
  for (std::size_t i = 0; i < count; ++i) chips *= axes[i].size;
  return chips;
}

int stride(const Topology& topology, int axis) {
  return product(topology.axes, static_cast<std::size_t>(axis));
}

int place(const Topology& topology, int axis, int chip) {
  return chip / stride(topology, axis) % topology.axes[static_cast<std::size_t>(axis)].size;
}

}  // namespace

int Topology::chips() const { return product(axes, axes.size()); }
int Topology::inner_chips() const { return product(axes, static_cast<std::size_t>(inner_axes)); }

ResourceMap::ResourceMap(const Topology& topology_)
    : topology(&topology_), chips(topology_.chips()), cards(topology_.network.cards) {
  std::int64_t next = 0;
  for (std::size_t axis = 0; axis < topology_.axes.size(); ++axis) {
    axis_start.push_back(next);
    next += 2 * chips;
  }
  memory_start = next;
  card_start = memory_start + chips;
  mesh_start = card_start + 2 * cards;
  per_system = mesh_start + topology_.ranks_per_system();
}

std::int64_t ResourceMap::capacity(std::int64_t local) const {
  if (local >= mesh_start) return topology->steps.mesh_rank;
  if (local >= card_start) return topology->network.each_way;
  if (local >= memory_start) return topology->memory;
  return topology->axes[static_cast<std::size_t>(local / (2 * chips))].each_way;
}

std::string ResourceMap::name(std::int64_t resource) const {
  const std::int64_t system = resource / per_system, local = resource % per_system;
  const auto chip = [&](std::int64_t of_system) { return system * chips + of_system; };
  if (local >= mesh_start)
    return fmt::format("rank {}'s transfers",
                       system * topology->ranks_per_system() + local - mesh_start);
  if (local >= card_start) {
    const std::int64_t card = local - card_start;
    return fmt::format("card {} of system {}, {}", card % cards, system,
                       card < cards ? "outwards" : "inwards");
  }
  if (local >= memory_start) return fmt::format("memory of chip {}", chip(local - memory_start));
  const auto axis = static_cast<std::size_t>(local / (2 * chips));
  const std::int64_t from = local % (2 * chips) / 2;
  const bool backwards = local % 2 != 0;
  if (topology->axes[axis].kind == AxisKind::kSwitch)
    return fmt::format("switch {} port of chip {}, {}", axis + 1, chip(from),
                       backwards ? "inwards" : "outwards");
  const int at = place(*topology, static_cast<int>(axis), static_cast<int>(from));
  const int size = topology->axes[axis].size;
  const int next = (at + (backwards ? size - 1 : 1)) % size;
  return fmt::format("link {} -> {}", chip(from),
                     chip(from + (next - at) * stride(*topology, static_cast<int>(axis))));
}

bool Router::is_up(std::int64_t system, int from, int to) const {
  const std::int64_t base = system * map_.chips;
  return !topology_.down_chips.contains(base + from) && !topology_.down_chips.contains(base + to) &&
         !topology_.down_links.contains({base + from, base + to});
}

void Router::add_hop(int axis, int from, int to, int direction, Route* route) const {
  const Axis& along = topology_.axes[static_cast<std::size_t>(axis)];
  if (along.kind == AxisKind::kSwitch) {
    route->links.push_back(map_.link(axis, from, 0));
    route->links.push_back(map_.link(axis, to, 1));
  } else {
    route->links.push_back(map_.link(axis, from, direction));
  }
  route->latency += along.latency;
}

// Dimension by dimension; false where that way is down.
bool Router::walk(std::int64_t system, int from, int to, Route* route) const {
  int at = from;
  for (int axis = static_cast<int>(topology_.axes.size()) - 1; axis >= 0; --axis) {
    const Axis& along = topology_.axes[static_cast<std::size_t>(axis)];
    const int step = stride(topology_, axis);
    const int target = place(topology_, axis, to);
    const int ahead = (target - place(topology_, axis, at) + along.size) % along.size;
    const bool forwards = along.kind == AxisKind::kLine ? target > place(topology_, axis, at)
                                                        : 2 * ahead <= along.size;
    while (place(topology_, axis, at) != target) {
      const int here = place(topology_, axis, at);
      const int next_place = along.kind == AxisKind::kSwitch ? target
                             : forwards                      ? (here + 1) % along.size
                                                             : (here + along.size - 1) % along.size;
      const int next = at + (next_place - here) * step;
      if (!is_up(system, at, next)) return false;
      add_hop(axis, at, next, forwards ? 0 : 1, route);
      at = next;
    }
  }
  return true;
}

// The shortest way over what is up; of equal ones the first in the order of axes, forwards first.
Route Router::detour(std::int64_t system, int from, int to) const {
  struct Hop {
    int from, axis, direction;
  };
  std::vector<std::optional<Hop>> reached(static_cast<std::size_t>(map_.chips));
  std::deque<int> queue{from};
  const auto visit = [&](int at, int next, int axis, int direction) {
    auto& hop = reached[static_cast<std::size_t>(next)];
    if (next == from || hop || !is_up(system, at, next)) return;
    hop = Hop{at, axis, direction};
    queue.push_back(next);
  };
  while (!queue.empty() && !reached[static_cast<std::size_t>(to)]) {
    const int at = queue.front();
    queue.pop_front();
    for (int axis = 0; axis < static_cast<int>(topology_.axes.size()); ++axis) {
      const Axis& along = topology_.axes[static_cast<std::size_t>(axis)];
      const int step = stride(topology_, axis), here = place(topology_, axis, at);
      if (along.kind == AxisKind::kSwitch) {
        for (int other = 0; other < along.size; ++other)
          if (other != here) visit(at, at + (other - here) * step, axis, 0);
        continue;
      }
      const bool wraps = along.kind == AxisKind::kRing;
      if (wraps || here + 1 < along.size)
        visit(at, at + ((here + 1) % along.size - here) * step, axis, 0);
      if (wraps || here > 0)
        visit(at, at + ((here + along.size - 1) % along.size - here) * step, axis, 1);
    }
  }
  if (!reached[static_cast<std::size_t>(to)]) {
    const std::int64_t base = system * map_.chips;
    config_error(
        "{}: no way is up from chip {} to chip {}; leave out the ranks of one of them, or mark "
        "fewer links down",
        topology_.name, base + from, base + to);
  }
  std::vector<std::pair<int, Hop>> hops;
  for (int at = to; at != from; at = reached[static_cast<std::size_t>(at)]->from)
    hops.emplace_back(at, *reached[static_cast<std::size_t>(at)]);
  std::reverse(hops.begin(), hops.end());
  Route route;
  for (const auto& [next, hop] : hops) add_hop(hop.axis, hop.from, next, hop.direction, &route);
  return route;
}

const Route& Router::within(std::int64_t system, int from, int to) {
  // Whole systems are alike, so their routes are kept once.
  const std::int64_t base = topology_.whole() ? 0 : system * map_.chips;
  const std::pair<std::int64_t, std::int64_t> key{base + from, to};
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  Route route;
  if (from != to && !walk(system, from, to, &route)) route = detour(system, from, to);
  return known_.emplace(key, std::move(route)).first->second;
}

Route Router::route(std::int64_t from, std::int64_t to) {
  const std::int64_t chips = map_.chips;
  const std::int64_t source = from / chips, target = to / chips;
  for (const std::int64_t chip : {from, to})
    if (topology_.down_chips.contains(chip))
      config_error("{}: chip {} is down but holds ranks of the collective; leave them out",
                   topology_.name, chip);
  if (source == target) {
    Route route = within(source, static_cast<int>(from % chips), static_cast<int>(to % chips));
    for (std::int64_t& link : route.links) link += source * map_.per_system;
    return route;
  }
  if (topology_.network.cards == 0)
    config_error("{}: nothing joins its instances (no EFA); use one of them", topology_.name);
  return {{source * map_.per_system + map_.card_out(static_cast<int>(from % chips)),
           target * map_.per_system + map_.card_in(static_cast<int>(to % chips))},
          topology_.network.latency};
}

}  // namespace trnsim::fabric
