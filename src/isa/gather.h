// What the gathering instructions of GpSimd share: their cost and the error for an index out of
// range.
#pragma once

#include <cstdint>
#include <string_view>

#include "isa/cost.h"

namespace trnsim::isa {

// Cycles of `count` gathers of `run` neighbouring elements, start not included. The documentation
// prints the overhead ratio as a divisor; as a factor it agrees with the text, which says that
// longer runs are cheaper per element.
double gather_cycles(const catalog::Core& core, double count, double run, int element_bytes);

[[noreturn]] void gather_out_of_range(std::string_view instruction, int partition,
                                      std::int64_t index, std::int64_t run, std::int64_t size);

}  // namespace trnsim::isa
