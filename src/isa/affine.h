// The affine integers of iota and affine_select: offset + partition * channel_multiplier + sum over
// the pattern of step * index, in 32-bit integers that wrap.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/operand.h"
#include "isa/rules.h"

namespace trnsim::isa {

// The pattern has one value for each element of a partition of `tile`.
void check_affine(const Rules& rules, const AffinePattern& pattern, const char* name,
                  const Tile& tile);

// The values of partition 0 in element order.
std::vector<std::int32_t> affine_row(const AffinePattern& pattern, std::int32_t offset);

inline std::int32_t wrapping_add(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
inline std::int32_t wrapping_multiply(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}

}  // namespace trnsim::isa
