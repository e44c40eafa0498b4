// Topologies for the tests: those of the catalogue, and small ones made by hand.
#pragma once

#include <string>

#include "fabric/engine.h"
#include "fabric/machine.h"

namespace trnsim::fabric {

inline const catalog::Catalog& hardware() {
  static const catalog::Catalog kCatalog = catalog::load("hardware");
  return kCatalog;
}

inline Topology known(const std::string& name) { return find_topology(name, hardware()); }

// Rings, lines or switches of one rank per place, 1 GB/s a link and no cost beside the bytes.
inline Topology by_hand(std::vector<Axis> axes) {
  Topology topology;
  topology.name = "by hand";
  topology.axes = std::move(axes);
  topology.inner_axes = static_cast<int>(topology.axes.size());
  topology.choices.pairs = false;
  return topology;
}

inline Axis ring(int size, std::int64_t each_way = 1'000'000'000, std::int64_t latency_ps = 0) {
  return {AxisKind::kRing, size, each_way, {latency_ps}};
}

inline Request request(Collective collective, std::int64_t ranks, std::int64_t bytes,
                       std::string algorithm = {}) {
  Request made;
  made.collective = collective;
  made.size = ranks;
  made.elements = bytes;
  made.algorithm = std::move(algorithm);
  return made;
}

inline Cost timed(const Topology& topology, const Request& wanted, bool fold = true) {
  return clock(topology, make_plan(topology, wanted), {.fold = fold, .arrivals = {}});
}

}  // namespace trnsim::fabric
