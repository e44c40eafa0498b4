// What max8, nc_find_index8 and nc_match_replace8 share: eight slots per partition, and how many
// elements they search.
#pragma once

#include "isa/operand.h"
#include "isa/rules.h"

namespace trnsim::isa {

inline constexpr int kSlots = 8;

void check_searched(const Rules& rules, const char* name,
                    const Tile& tile);  // 8 to 16384 elements per partition
void check_slots(const Rules& rules, const char* name,
                 const Tile& tile);  // 8 elements per partition
void check_index_dtype(const Rules& rules, const char* name, const Tile& tile);  // uint32 or uint16

}  // namespace trnsim::isa
