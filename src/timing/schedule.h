// The compiler's freedom to reorder: in which order the engines take the instructions of a program.
// A list scheduler walks through the program with a window: at any moment it may choose among the
// instructions up to kLookAhead beyond the oldest one that is not placed yet. An engine that falls
// free takes the oldest instruction of its own in the window that could start then, else the one
// that can start first. Every hazard of the program as it was placed in memory is kept, so double
// buffering follows from where the kernel put its tiles; so are nl.no_reorder, the orders that the
// kernel asks for, and the meetings of cores. Values play no part.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "catalog/chip.h"
#include "program/program.h"
#include "timing/hazards.h"

namespace trnsim::timing {

enum class Scheduling : std::uint8_t {
  kProgram,  // every engine takes its instructions as the kernel wrote them
  kList,
};
std::string_view scheduling_name(Scheduling scheduling);
std::optional<Scheduling> scheduling_named(std::string_view name);

// What the vendor's compiler for the program's dialect does, as far as measurements show.
Scheduling usual_scheduling(const program::Program& program);

inline constexpr std::uint32_t kLookAhead = 256;

// The instructions in the order in which they are taken, without those that are left out (as
// stand_ins() of liberties.h says; empty: none). Ties go to the one that stands first.
std::vector<std::uint32_t> list_order(const program::Program& program,
                                      const Dependencies& dependencies, const KeptOrders& kept,
                                      std::span<const std::uint32_t> stand_ins,
                                      const catalog::Chip& chip);

}  // namespace trnsim::timing
