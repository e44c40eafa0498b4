// What the register instructions share. Registers of 32 bits belong to the engines' sequencers;
// which of them a virtual register occupies is the compiler's choice, so all are timed on Sync's
// stream.
#pragma once

#include "isa/cost.h"
#include "isa/rules.h"

namespace trnsim::isa {

inline constexpr const char* kRegisterEngines = "the sequencers; timed on Sync";

void check_register_value(const Rules& rules, const char* name, double value);
// One element of at most 32 bits in SBUF or HBM.
void check_register_memory(const Rules& rules, const char* name, const Tile& tile);
Cost register_access_cost(const CostModel& model);

}  // namespace trnsim::isa
