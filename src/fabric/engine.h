// The event engine: clocks a plan on a topology. Ranks advance on their own, as far as what they
// send and receive lets them; transfers share links, cards, memories and queues (sharing.h). Knows
// sizes, touches no data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "fabric/fold.h"
#include "fabric/plan.h"
#include "fabric/topology.h"

namespace trnsim::fabric {

struct Traffic {
  std::string resource;
  std::int64_t bytes = 0;     // times how often each is touched
  std::int64_t capacity = 0;  // bytes per second
  bool is_link = false;       // or a port of a switch, or a network card
};

struct Cost {
  Picoseconds time;               // of the last rank
  std::vector<Picoseconds> ends;  // by rank, in the order of the fold's representatives
  std::vector<Traffic> traffic;   // of resources that were used, in their own order
  Fold fold;
  std::int64_t transfers = 0;  // clocked

  // The fullest resource and its share of the time; none where nothing moved.
  const Traffic* binding() const;
  double share(const Traffic& traffic) const;
};

struct ClockOptions {
  bool fold = true;
  std::vector<Picoseconds> arrivals{};  // of the ranks, by number within the groups; none: together
};

// Throws ConfigError where a rank's chip is down or cannot be reached.
Cost clock(const Topology& topology, const Plan& plan, const ClockOptions& options = {});

}  // namespace trnsim::fabric
