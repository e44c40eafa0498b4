// Where the ranks of a group stand on a topology, and the orders in which rings visit them.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/algorithm.h"
#include "fabric/topology.h"

namespace trnsim::fabric {

struct Request;

// How the ranks of a group lie: `local` on each of `chips` of each of `outer` instances of each of
// `systems`. Groups that do not fill chips and systems evenly have one rank after the other.
struct RankLayout {
  int local = 1, chips = 1;
  std::vector<int> outer;  // sizes of the axes between instances of a system
  std::int64_t systems = 1;
  bool even = true;
  bool whole_chips = false;  // all ranks of each chip
};

RankLayout rank_layout(const Topology& topology, const Request& request);

// All sixteen chips of an instance that is a 4 x 4 torus.
bool is_torus_of_four(const Topology& topology, const RankLayout& layout);

// The orders in which rings visit the chips of an instance.
Orders chip_orders(const Topology& topology, const RankLayout& layout);

// `width` members per chip, one after the other; every second pair of rings backwards, so that four
// rings use four streams within a chip.
Orders widened(const Orders& chips, int width);

// One ring through all instances; its channels enter and leave instances at different chips, so
// that every card carries one.
Orders flat_orders(const Topology& topology, const RankLayout& layout);

}  // namespace trnsim::fabric
