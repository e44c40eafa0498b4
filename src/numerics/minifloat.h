// Bit-exact encode and decode of the small float formats, written as branch-free integer code that
// compilers vectorise. The formats differ in a handful of constants; everything that rounds or
// overflows is here once. Private to numerics: others use convert.h.
#pragma once

#include <bit>
#include <cstdint>

#include "numerics/target.h"

namespace trnsim::numerics::detail {

inline constexpr std::uint32_t kCanonicalNan = 0x7fc00000u;
inline constexpr std::uint32_t kInfinity = 0x7f800000u;

// Codes are without the sign, which sits just above the exponent.
template <int kExponentBits, int kMantissaBits, int kBiasValue, std::uint32_t kMax,
          std::uint32_t kOver, std::uint32_t kNanCode, bool kIeee>
struct Format {
  static constexpr int kExponent = kExponentBits;
  static constexpr int kMantissa = kMantissaBits;
  static constexpr int kBias = kBiasValue;
  static constexpr int kSignShift = kExponentBits + kMantissaBits;
  static constexpr std::uint32_t kMagnitudeMask = (1u << kSignShift) - 1;
  static constexpr std::uint32_t kMaxCode = kMax;        // largest finite
  static constexpr std::uint32_t kOverflowCode = kOver;  // infinity, NaN or the largest finite
  static constexpr std::uint32_t kNan = kNanCode;
  static constexpr bool kIeeeSpecials = kIeee;  // an exponent of all ones is infinity or NaN
};

using Float16 = Format<5, 10, 15, 0x7bff, 0x7c00, 0x7e00, true>;
using E3M4 = Format<3, 4, 3, 0x6f, 0x70, 0x78, true>;
using E4M3 = Format<4, 3, 7, 0x77, 0x78, 0x7c, true>;
using E4M3FN = Format<4, 3, 7, 0x7e, 0x7f, 0x7f, false>;
using E5M2 = Format<5, 2, 15, 0x7b, 0x7c, 0x7e, true>;
using E2M1FN = Format<2, 1, 1, 0x7, 0x7, 0x8, false>;

template <class F>
TRNSIM_ALWAYS_INLINE float decode(std::uint32_t code) {
  const std::uint32_t magnitude = code & F::kMagnitudeMask;
  const std::uint32_t sign = ((code >> F::kSignShift) & 1u) << 31;
  const std::uint32_t aligned = magnitude << (23 - F::kMantissa);
  std::uint32_t bits = aligned + (static_cast<std::uint32_t>(127 - F::kBias) << 23);
  // A subnormal is a small integer times the smallest value: exact in fp32.
  constexpr float kUnit =
      std::bit_cast<float>(static_cast<std::uint32_t>(127 + 1 - F::kBias - F::kMantissa) << 23);
  const std::uint32_t tiny = std::bit_cast<std::uint32_t>(
      static_cast<float>(static_cast<std::int32_t>(magnitude)) * kUnit);
  bits = magnitude < (1u << F::kMantissa) ? tiny : bits;
  if constexpr (F::kIeeeSpecials) {
    bits = magnitude > F::kMaxCode ? (aligned | kInfinity) : bits;
  } else if constexpr (F::kNan <= F::kMagnitudeMask) {
    bits = magnitude == F::kNan ? kCanonicalNan : bits;
  }
  return std::bit_cast<float>(bits | sign);
}

// Magnitude code before the overflow check, for finite input rounded to nearest even.
template <class F>
TRNSIM_ALWAYS_INLINE std::uint32_t round_magnitude(std::uint32_t magnitude) {
  constexpr int kShift = 23 - F::kMantissa;
  const std::uint32_t odd = (magnitude >> kShift) & 1u;
  const std::uint32_t normal = ((magnitude + ((1u << (kShift - 1)) - 1) + odd) >> kShift) -
                               (static_cast<std::uint32_t>(127 - F::kBias) << F::kMantissa);
  // Below the smallest normal: adding a power of two whose ulp is the subnormal step makes the
  // adder do the rounding.
  constexpr std::uint32_t kMagic =
      static_cast<std::uint32_t>(127 + 1 - F::kBias - F::kMantissa + 23) << 23;
  constexpr std::uint32_t kMinNormal = static_cast<std::uint32_t>(127 + 1 - F::kBias) << 23;
  const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(kMagic);
  return magnitude < kMinNormal ? std::bit_cast<std::uint32_t>(sum) - kMagic : normal;
}

template <class F, bool kSaturate>
TRNSIM_ALWAYS_INLINE std::uint32_t finish(std::uint32_t code, std::uint32_t bits) {
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const std::uint32_t sign = (bits >> 31) << F::kSignShift;
  code = code > F::kMaxCode ? (kSaturate ? F::kMaxCode : F::kOverflowCode) : code;
  return magnitude > kInfinity ? F::kNan : (code | sign);
}

template <class F, bool kSaturate>
TRNSIM_ALWAYS_INLINE std::uint32_t encode(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return finish<F, kSaturate>(round_magnitude<F>(bits & 0x7fffffffu), bits);
}

// Rounds up with probability (discarded fraction); `random` is uniform over 32 bits.
template <class F, bool kSaturate>
std::uint32_t encode_stochastic(float value, std::uint32_t random) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const int exponent = static_cast<int>(magnitude >> 23);
  constexpr int kShift = 23 - F::kMantissa;
  constexpr int kMinExponent = 127 + 1 - F::kBias;
  if (exponent >= kMinExponent) {
    const std::uint32_t code = ((magnitude + (random & ((1u << kShift) - 1))) >> kShift) -
                               (static_cast<std::uint32_t>(127 - F::kBias) << F::kMantissa);
    return finish<F, kSaturate>(code, bits);
  }
  // The significand as fixed point with 32 bits below the smallest target step; what lies lower
  // cannot matter to more than one part in 2^32.
  const std::uint64_t significand = (magnitude & 0x7fffffu) | (exponent ? 0x800000u : 0u);
  const int right = kShift + kMinExponent - (exponent ? exponent : 1);
  const std::uint64_t fixed =
      right <= 32 ? significand << (32 - right) : (right < 96 ? significand >> (right - 32) : 0);
  return finish<F, kSaturate>(static_cast<std::uint32_t>((fixed + random) >> 32), bits);
}

}  // namespace trnsim::numerics::detail
