// Deterministic fp32 inputs for the numerics tests: ordinary values mixed with the special ones.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "numerics/random.h"

namespace trnsim::numerics {

inline std::vector<float> sample_values(std::size_t n, std::uint64_t seed, bool specials = true) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f,          -0.0f,  1.0f,    -1.0f, kInf,  -kInf,
                           std::nanf(""), 1e-45f, 3.4e38f, 2.0f,  -2.0f, 0.5f};
  Xorwow generator(seed);
  std::vector<float> values(n);
  for (float& value : values) {
    const std::uint32_t word = generator.next();
    const float ordinary = (unit_float(generator.next()) - 0.5f) * 16.0f;
    value = specials && word % 8 == 0 ? special[(word >> 8) % 12] : ordinary;
  }
  return values;
}

// Equal bits, any NaN being equal to any other.
inline bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

}  // namespace trnsim::numerics
