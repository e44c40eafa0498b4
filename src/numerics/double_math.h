// Elementary functions in double, good to about 1e-13, from additions, multiplications, divisions
// and bit patterns: branch-free so that the loops around them vectorise. Polynomials are Chebyshev
// fits made with mpmath; the error of each stands beside it. Private to numerics.
#pragma once

#include <bit>
#include <cstdint>

#include "numerics/target.h"

namespace trnsim::numerics::detail {

inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kPi = 0x1.921fb54442d18p1;
inline constexpr double kInvSqrt2 = 0x1.6a09e667f3bcdp-1;
inline constexpr double kInvSqrt2Pi = 0x1.9884533d43651p-2;
inline constexpr double kRoundingMagic =
    0x1.8p52;  // adding it rounds to an integer, found in the low bits
inline constexpr double kInfinite = __builtin_inf();
inline constexpr double kNotANumber = __builtin_nan("");

template <int kCount>
TRNSIM_ALWAYS_INLINE double polynomial(const double (&c)[kCount], double x) {
  double y = c[kCount - 1];
#pragma GCC unroll 32
  for (int i = kCount - 2; i >= 0; --i) y = y * x + c[i];
  return y;
}

TRNSIM_ALWAYS_INLINE double clamp(double x, double low, double high) {  // NaN passes
  x = x < low ? low : x;
  return x > high ? high : x;
}

struct Exponential {
  double scale;    // 2^k
  double minus_1;  // e^r - 1 for the reduced argument: e^x = scale * (1 + minus_1)
};

// Arguments beyond +-700 (far outside fp32's range) are clamped.
TRNSIM_ALWAYS_INLINE Exponential reduced_exp(double x) {
  x = clamp(x, -700.0, 700.0);
  const double shifted = x * (1.0 / kLn2) + kRoundingMagic;
  const double k = shifted - kRoundingMagic;
  // ln 2 in two parts, the first with enough trailing zeros for k * part to be exact.
  const double r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33;
  constexpr double kTaylor[] = {1.0,          1.0 / 2,       1.0 / 6,        1.0 / 24,
                                1.0 / 120,    1.0 / 720,     1.0 / 5040,     1.0 / 40320,
                                1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
  const std::uint64_t bits = (std::bit_cast<std::uint64_t>(shifted) + 1023u) << 52;
  return {std::bit_cast<double>(bits), r * polynomial(kTaylor, r)};
}

TRNSIM_ALWAYS_INLINE double exp(double x) {
  const Exponential e = reduced_exp(x);
  return e.scale + e.scale * e.minus_1;
}

TRNSIM_ALWAYS_INLINE double expm1(double x) {
  const Exponential e = reduced_exp(x);
  return (e.scale - 1.0) + e.scale * e.minus_1;
}

// 2 atanh(s) for |s| <= 1/3; relative error 2e-16.
TRNSIM_ALWAYS_INLINE double twice_atanh(double s) {
  constexpr double kFit[] = {2.0,
                             0.6666666666668257,
                             0.399999999952876,
                             0.2857142911165716,
                             0.22222190861346283,
                             0.1818285980047391,
                             0.15363676248891633,
                             0.13591305485579894,
                             0.09880789048764786,
                             0.17780763826113302};
  return s * polynomial(kFit, s * s);
}

// The logarithm of 1 + u for u in [0, 1].
TRNSIM_ALWAYS_INLINE double log1p_unit(double u) { return twice_atanh(u / (2.0 + u)); }

// x must be zero, infinite, NaN or normal as a double, as every widened fp32 is. NaN for negative
// x.
TRNSIM_ALWAYS_INLINE double log(double x) {
  constexpr std::uint64_t kHalf =
      0x3fe6a09e667f3bcdu;  // sqrt(1/2): the mantissa goes to [sqrt(1/2), sqrt(2))
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t offset = bits - kHalf;
  const double mantissa = std::bit_cast<double>((offset & 0xfffffffffffffu) + kHalf);
  // The biased exponent as a double without an integer conversion, which AVX2 does not have for 64
  // bits.
  const double exponent =
      std::bit_cast<double>(((offset >> 52) & 0xfffu) | 0x4330000000000000u) - 0x1p52;
  const double k = exponent > 2047.0 ? exponent - 4096.0 : exponent;
  const double result = k * kLn2 + twice_atanh((mantissa - 1.0) / (mantissa + 1.0));
  const double positive = x == kInfinite ? x : result;
  const double real = x > 0.0 ? positive : kNotANumber;
  return x == 0.0 ? -kInfinite : real;
}

// e^(z^2) erfc(z) for z in [0, 14]; relative error 1e-14.
TRNSIM_ALWAYS_INLINE double scaled_erfc(double z) {
  constexpr double kFit[] = {
      0.3127247666064085,      0.4299076333459077,      0.20785645369980904,
      0.053410857034841865,    -0.0004524402957770725,  -0.003749852981206984,
      1.9237264484441795e-06,  0.0003674794536875599,   -4.3316045679226294e-05,
      -3.676675156344614e-05,  1.3435415841436673e-05,  1.6482728425003615e-06,
      -2.428062377167609e-06,  5.373603852278341e-07,   1.986949696000074e-07,
      -1.7200423281955062e-07, 3.210215060102136e-08,   2.300587619904573e-08,
      -1.30256524020763e-08,   -1.0616466415978944e-09, 1.5089675222995546e-09};
  const double t = 2.0 / (2.0 + z);  // [1/8, 1], mapped to [-1, 1]
  return polynomial(kFit, (2.0 * t - 1.125) * (1.0 / 0.875));
}

TRNSIM_ALWAYS_INLINE double absolute(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7fffffffffffffffu);
}
TRNSIM_ALWAYS_INLINE double with_sign_of(double magnitude, double sign) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) |
                               (std::bit_cast<std::uint64_t>(sign) & 0x8000000000000000u));
}

// The complement keeps its relative accuracy far into the tail (below 1e-87 it stays at its value
// for 14).
TRNSIM_ALWAYS_INLINE double erfc(double x) {
  const double z = clamp(absolute(x), 0.0, 14.0);
  const double tail = exp(-z * z) * scaled_erfc(z);
  return x < 0.0 ? 2.0 - tail : tail;
}

TRNSIM_ALWAYS_INLINE double erf(double x) {
  constexpr double kFit[] = {
      1.1283791670955121,      -0.376126389031744,      0.11283791670580423,
      -0.026866170586496874,   0.005223977154105304,    -0.0008548304871782741,
      0.00012054681918310599,  -1.4913300906316395e-05, 1.631035651387174e-06,
      -1.5188281247335167e-07, 9.428596956834164e-09};  // erf(x) / x on [0, 1], 6e-16
  const double z = absolute(x);
  const double far = 1.0 - erfc(z);
  const double near = z * polynomial(kFit, z * z);
  return with_sign_of(z < 1.0 ? near : far, x);
}

TRNSIM_ALWAYS_INLINE double tanh(double x) {
  const double z = clamp(absolute(x), 0.0, 30.0);
  const double e = expm1(2.0 * z);
  return with_sign_of(e / (e + 2.0), x);
}

TRNSIM_ALWAYS_INLINE double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

TRNSIM_ALWAYS_INLINE double arctan(double x) {
  constexpr double kFit[] = {
      0.9999999999999925,   -0.3333333333289398,   0.19999999957481826,   -0.142857126460504,
      0.11111077584971772,  -0.09090489647799033,  0.07688811662401294,   -0.06646145790221254,
      0.05794192316881845,  -0.04977996675955047,  0.04051778977125066,   -0.029589012194344372,
      0.018198570485395787, -0.008792435542217635, 0.0030659957028108006, -0.0006774105399645076,
      7.063142635888046e-05};  // arctan(x) / x on [0, 1], 8e-15
  const double z = absolute(x);
  const double reduced = z > 1.0 ? 1.0 / z : z;
  const double angle = reduced * polynomial(kFit, reduced * reduced);
  return with_sign_of(z > 1.0 ? kPi / 2 - angle : angle, x);
}

TRNSIM_ALWAYS_INLINE double sin(double x) {
  constexpr double kFit[] = {
      0.9999999999999999,      -0.16666666666666016,   0.008333333333278632,
      -0.00019841269823755452, 2.7557316469103673e-06, -2.5051872931841248e-08,
      1.604788239938954e-10,   -7.370845904448268e-13};  // sin(x) / x on [0, pi/2], 4e-16
  constexpr double kPiTail = 0x1.1a62633145c07p-53;
  const double z = absolute(x);
  const double beyond = (z - kPi) - kPiTail;
  const double folded = z > kPi / 2 ? -beyond : z;  // sin(z) = sin(pi - z)
  const double inside = folded * polynomial(kFit, folded * folded);
  const double cubic =
      beyond * (beyond * beyond * (1.0 / 6) - 1.0);  // the Taylor cubic about pi, published as such
  const double result = z > 0x1.921fb6p1 ? cubic : inside;  // the fp32 next to pi counts as pi
  return x < 0.0 ? -result : result;
}

}  // namespace trnsim::numerics::detail
