// The arithmetic of a plan: what its reducing schedules leave, bit for bit, in the order in which
// they reduce. Knows no time.
//
// Whenever a transfer writes a result, its inputs are combined in fp32 and rounded once to the
// element type: what has arrived and the member's own in the order of members, then those of the
// chip that are reduced along the way. So a ring rounds after each hop, a mesh once per chip and
// once at the end, and recursive halving after each exchange. Integers are exact and wrap; maximum
// and minimum propagate NaN. Every rank of an all_reduce gets the same bits.
#pragma once

#include <cstddef>
#include <vector>

#include "fabric/plan.h"
#include "numerics/dtype.h"

namespace trnsim::fabric {

enum class Operator : std::uint8_t { kAdd, kMinimum, kMaximum };
Operator operator_from_name(std::string_view name);

// One buffer per rank of the (only) group, as large as the request says; an all_reduce or a
// reduce_scatter. After an all_reduce every buffer holds the result, after a reduce_scatter buffer
// r is the r-th part of it. Throws Unsupported for element types that cannot be reduced.
void reduce(const Plan& plan, numerics::Dtype dtype, Operator op,
            std::vector<std::vector<std::byte>>* buffers);

}  // namespace trnsim::fabric
