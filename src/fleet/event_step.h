// One step of a fleet, event by event: every pipeline stage of every data-parallel replica takes
// its micro-batches in the order of the schedule, waits for its neighbours, and at the end for the
// slowest replica. Chips that are slower than the rest slow down the replica that they are in.
//
// Replicas whose chips are all alike do the same at the same time and are clocked once, so that the
// cost follows the number of different replicas and not the number of chips.
#pragma once

#include <cstdint>

#include "fleet/step.h"

namespace trnsim::fleet {

struct Stragglers {
  std::int64_t count = 0;  // chips that are slow all the time, drawn at random
  double slowdown = 1.2;   // of a straggler
  double jitter = 0;       // relative spread of every chip, so that no two are alike
  std::uint64_t seed = 0;
};

struct EventStep {
  double seconds = 0;
  double without_stragglers = 0;
  std::int64_t replicas = 0, different = 0;  // data-parallel replicas; clocked ones
  std::int64_t events = 0;
  double waiting = 0;  // of a typical replica for the slowest, seconds
};

EventStep event_step(Evaluator& evaluator, const Layout& layout, const Stragglers& stragglers);

}  // namespace trnsim::fleet
