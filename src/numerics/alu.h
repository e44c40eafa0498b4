// One definition per arithmetic operator, for a float or for a vector of them (a GCC vector type):
// the row kernels, the transposed reductions and the scalar specification all instantiate it.
// Private to numerics.
#pragma once

#include <bit>
#include <type_traits>

#include "numerics/elementwise.h"
#include "numerics/functions.h"
#include "numerics/target.h"

namespace trnsim::numerics::detail {

typedef float Lanes __attribute__((vector_size(32)));  // eight rows side by side
typedef std::int32_t LaneBits __attribute__((vector_size(32)));

TRNSIM_ALWAYS_INLINE float magnitude(float a) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(a) & 0x7fffffffu);
}
TRNSIM_ALWAYS_INLINE Lanes magnitude(const Lanes& a) { return (Lanes)((LaneBits)a & 0x7fffffff); }

// The operators that have a lane-wise form; the rest exist for one float only.
constexpr bool has_lanes(AluOp op) {
  return !is_bitvec(op) && op != AluOp::kPower && op != AluOp::kRsqrt && op != AluOp::kMod &&
         op != AluOp::kFmod;
}

// clang-format off
// No short-circuit operators and no branches below: conditions are masks when T is a vector.
template <AluOp kOp, class T>
TRNSIM_ALWAYS_INLINE T eval(const T& a, const T& b) {
  using enum AluOp;
  const T zero = T{} * 0.0f;
  const T one = zero + 1.0f;
  if constexpr (kOp == kAdd || kOp == kAverage) return a + b;
  else if constexpr (kOp == kSubtract) return a - b;
  else if constexpr (kOp == kMultiply) return a * b;
  else if constexpr (kOp == kMaximum) return ((a >= b) | (a != a)) ? a : b;
  else if constexpr (kOp == kMinimum) return ((a <= b) | (a != a)) ? a : b;
  else if constexpr (kOp == kEqual) return (a == b) ? one : zero;
  else if constexpr (kOp == kNotEqual) return (a != b) ? one : zero;
  else if constexpr (kOp == kGreater) return (a > b) ? one : zero;
  else if constexpr (kOp == kGreaterEqual) return (a >= b) ? one : zero;
  else if constexpr (kOp == kLess) return (a < b) ? one : zero;
  else if constexpr (kOp == kLessEqual) return (a <= b) ? one : zero;
  else if constexpr (kOp == kLogicalAnd) return ((a != zero) & (b != zero)) ? one : zero;
  else if constexpr (kOp == kLogicalOr) return ((a != zero) | (b != zero)) ? one : zero;
  else if constexpr (kOp == kLogicalXor) return ((a != zero) ^ (b != zero)) ? one : zero;
  else if constexpr (kOp == kLogicalNot) return (a == zero) ? one : zero;
  else if constexpr (kOp == kAbsMax) return ((magnitude(a) > magnitude(b)) | (a != a)) ? a : b;
  else if constexpr (kOp == kAbsMin) return ((magnitude(a) < magnitude(b)) | (a != a)) ? a : b;
  else if constexpr (kOp == kAbs) return magnitude(a);
  else if constexpr (kOp == kSquare) return a * a;
  else if constexpr (kOp == kRelu) return (a < zero) ? zero : a;
  else if constexpr (kOp == kReciprocal) return one / a;
  else if constexpr (kOp == kDivide) return a / b;
  else if constexpr (kOp == kBypass) return a;
  else if constexpr (kOp == kPower) return power(a, b);
  else if constexpr (kOp == kMod) return mod(a, b);
  else if constexpr (kOp == kFmod) return fmod(a, b);
  else if constexpr (kOp == kRsqrt) return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(a)));
  else static_assert(kOp != kOp, "bit vectors have no fp32 meaning");
}
// clang-format on

// clang-format off
// Calls Kernel::run<op>(args...) for an operator known at run time; false for a bit vector.
template <class Kernel, class... Args>
TRNSIM_ALWAYS_INLINE bool dispatch(AluOp op, Args... args) {
  using enum AluOp;
  switch (op) {
    case kAdd:
    case kAverage: Kernel::template run<kAdd>(args...); return true;
    case kSubtract: Kernel::template run<kSubtract>(args...); return true;
    case kMultiply: Kernel::template run<kMultiply>(args...); return true;
    case kMaximum: Kernel::template run<kMaximum>(args...); return true;
    case kMinimum: Kernel::template run<kMinimum>(args...); return true;
    case kEqual: Kernel::template run<kEqual>(args...); return true;
    case kNotEqual: Kernel::template run<kNotEqual>(args...); return true;
    case kGreater: Kernel::template run<kGreater>(args...); return true;
    case kGreaterEqual: Kernel::template run<kGreaterEqual>(args...); return true;
    case kLess: Kernel::template run<kLess>(args...); return true;
    case kLessEqual: Kernel::template run<kLessEqual>(args...); return true;
    case kLogicalAnd: Kernel::template run<kLogicalAnd>(args...); return true;
    case kLogicalOr: Kernel::template run<kLogicalOr>(args...); return true;
    case kLogicalXor: Kernel::template run<kLogicalXor>(args...); return true;
    case kLogicalNot: Kernel::template run<kLogicalNot>(args...); return true;
    case kPower: Kernel::template run<kPower>(args...); return true;
    case kAbsMax: Kernel::template run<kAbsMax>(args...); return true;
    case kAbsMin: Kernel::template run<kAbsMin>(args...); return true;
    case kAbs: Kernel::template run<kAbs>(args...); return true;
    case kSquare: Kernel::template run<kSquare>(args...); return true;
    case kRelu: Kernel::template run<kRelu>(args...); return true;
    case kRsqrt: Kernel::template run<kRsqrt>(args...); return true;
    case kReciprocal: Kernel::template run<kReciprocal>(args...); return true;
    case kDivide: Kernel::template run<kDivide>(args...); return true;
    case kMod: Kernel::template run<kMod>(args...); return true;
    case kFmod: Kernel::template run<kFmod>(args...); return true;
    case kBypass: Kernel::template run<kBypass>(args...); return true;
    default: return false;
  }
}
// clang-format on

}  // namespace trnsim::numerics::detail
