// What rand_set_state and rand_get_state share: which engine's lanes they name, and the rules.
#pragma once

#include "isa/cost.h"
#include "isa/rules.h"
#include "isa/state.h"

namespace trnsim::isa {

inline constexpr const char* kRandomStateEngines = "GpSimd, Vector (v4 and later)";
inline constexpr const char* kRandomStateCost =
    "of a copy of the states (no public figure): Vector max(MIN_II, W), GpSimd start + W cycles; + "
    "drain";

// `states` holds uint32 [lanes, words of one lane]; lane p is the tile's partition p.
void check_random_state(const Rules& rules, const char* name, const Tile& states, Engine engine,
                        Buffers buffers);
RandomLanes& random_lanes(CoreState& state, Engine engine);
Cost random_state_cost(const CostModel& model, const Tile& states, Engine engine);

}  // namespace trnsim::isa
