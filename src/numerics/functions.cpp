#include "numerics/functions.h"

#include <array>

#include "numerics/double_math.h"

namespace trnsim::numerics {

namespace {

using detail::clamp;
using detail::exp;
using detail::sigmoid;

constexpr std::array<std::string_view, kActivationFunctionCount> kNames{"copy",
                                                                        "square",
                                                                        "sigmoid",
                                                                        "relu",
                                                                        "prelu",
                                                                        "gelu",
                                                                        "gelu_dx",
                                                                        "gelu_apprx_tanh",
                                                                        "gelu_apprx_sigmoid",
                                                                        "gelu_apprx_sigmoid_dx",
                                                                        "silu",
                                                                        "silu_dx",
                                                                        "tanh",
                                                                        "softplus",
                                                                        "mish",
                                                                        "erf",
                                                                        "erf_dx",
                                                                        "exp",
                                                                        "sign",
                                                                        "abs",
                                                                        "log",
                                                                        "sin",
                                                                        "arctan",
                                                                        "sqrt",
                                                                        "rsqrt",
                                                                        "reciprocal"};

// x * sigmoid(c x): the lower clamp keeps -infinity from becoming infinity times zero.
TRNSIM_ALWAYS_INLINE double gated(double x, double gate) {
  return (x < -800.0 ? -800.0 : x) * sigmoid(gate);
}

// The derivative of x sigmoid(c x); sigmoid(-z) instead of 1 - sigmoid(z), which would cancel.
TRNSIM_ALWAYS_INLINE double gated_dx(double x, double c) {
  const double z = c * clamp(x, -800.0, 800.0);
  return sigmoid(z) * (1.0 + z * sigmoid(-z));
}

TRNSIM_ALWAYS_INLINE double gelu_tanh(double x) {
  // 0.5 x (1 + tanh u) = x sigmoid(2 u)
  return gated(x, 2.0 * 0.7978845608028654 * (x + 0.044715 * x * x * x));
}

TRNSIM_ALWAYS_INLINE double gelu(double x) {
  return 0.5 * (x < -800.0 ? -800.0 : x) * detail::erfc(-x * detail::kInvSqrt2);
}

TRNSIM_ALWAYS_INLINE double gelu_dx(double x) {
  const double z = clamp(x, -800.0, 800.0);
  return 0.5 * detail::erfc(-z * detail::kInvSqrt2) + z * detail::kInvSqrt2Pi * exp(-0.5 * z * z);
}

TRNSIM_ALWAYS_INLINE double softplus(double x) {
  return (x < 0.0 ? 0.0 : x) + detail::log1p_unit(exp(-detail::absolute(x)));
}

// tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2)
TRNSIM_ALWAYS_INLINE double mish(double x) {
  const double e = exp(clamp(x, -800.0, 40.0));
  const double product = e * (e + 2.0);
  return (x < -800.0 ? -800.0 : x) * (product / (product + 2.0));
}

TRNSIM_ALWAYS_INLINE float sign(float x) {
  const float nonzero = x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : 0.0f);
  return x != x ? x : nonzero;
}

#define TRNSIM_EACH(expression)                               \
  TRNSIM_IVDEP for (std::size_t i = 0; i < n; ++i) {          \
    [[maybe_unused]] const float v = x[i];                    \
    [[maybe_unused]] const double d = static_cast<double>(v); \
    y[i] = static_cast<float>(expression);                    \
  }                                                           \
  break

// clang-format off
TRNSIM_MULTIVERSION
void run(ActivationFunction function, const float* x, float* y, std::size_t n, float alpha) {
  using enum ActivationFunction;
  switch (function) {
    case kCopy: TRNSIM_EACH(v);
    case kSquare: TRNSIM_EACH(v * v);
    case kSigmoid: TRNSIM_EACH(sigmoid(d));
    case kRelu: TRNSIM_EACH(v < 0.0f ? 0.0f : v);
    case kPrelu: TRNSIM_EACH(v < 0.0f ? alpha * v : v);
    case kGelu: TRNSIM_EACH(gelu(d));
    case kGeluDx: TRNSIM_EACH(gelu_dx(d));
    case kGeluApprxTanh: TRNSIM_EACH(gelu_tanh(d));
    case kGeluApprxSigmoid: TRNSIM_EACH(gated(d, 1.702 * d));
    case kGeluApprxSigmoidDx: TRNSIM_EACH(gated_dx(d, 1.702));
    case kSilu: TRNSIM_EACH(gated(d, d));
    case kSiluDx: TRNSIM_EACH(gated_dx(d, 1.0));
    case kTanh: TRNSIM_EACH(detail::tanh(d));
    case kSoftplus: TRNSIM_EACH(softplus(d));
    case kMish: TRNSIM_EACH(mish(d));
    case kErf: TRNSIM_EACH(detail::erf(d));
    case kErfDx: TRNSIM_EACH(1.1283791670955126 * exp(-d * d));
    case kExp: TRNSIM_EACH(exp(d));
    case kSign: TRNSIM_EACH(sign(v));
    case kAbs: TRNSIM_EACH(std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) & 0x7fffffffu));
    case kLog: TRNSIM_EACH(detail::log(d));
    case kSin: TRNSIM_EACH(detail::sin(d));
    case kArctan: TRNSIM_EACH(detail::arctan(d));
    case kSqrt: TRNSIM_EACH(__builtin_sqrtf(v));
    case kRsqrt: TRNSIM_EACH(1.0 / __builtin_sqrt(d));
    case kReciprocal: TRNSIM_EACH(1.0f / v);
  }
}
// clang-format on

#undef TRNSIM_EACH

}  // namespace

std::string_view name(ActivationFunction function) {
  return kNames[static_cast<std::size_t>(function)];
}

std::optional<ActivationFunction> activation_function_from_name(std::string_view wanted) {
  if (wanted == "identity") return ActivationFunction::kCopy;
  if (wanted == "lrelu") return ActivationFunction::kPrelu;
  for (std::size_t i = 0; i < kActivationFunctionCount; ++i) {
    if (kNames[i] == wanted) return static_cast<ActivationFunction>(i);
  }
  return std::nullopt;
}

void activate(ActivationFunction function, const float* x, float* y, std::size_t n, float alpha) {
  run(function, x, y, n, alpha);
}

float power(float base, float exponent) {
  const double a = detail::absolute(static_cast<double>(base));
  const double b = static_cast<double>(exponent);
  if (b == 0.0 || base == 1.0f) return 1.0f;  // even for NaN
  if (base != base || b != b) return static_cast<float>(detail::kNotANumber);
  const double size = a == 1.0 ? 1.0 : exp(b * detail::log(a));
  if (!(base < 0.0f) && !(base == 0.0f && 1.0f / base < 0.0f)) return static_cast<float>(size);
  // From 2^24 on every fp32 is even; below it an integer fits an int.
  const bool huge = detail::absolute(b) >= 0x1p24;
  const bool integer = huge || static_cast<double>(static_cast<int>(b)) == b;
  if (!integer && base != 0.0f && a != detail::kInfinite)
    return static_cast<float>(detail::kNotANumber);
  const bool odd = integer && !huge && (static_cast<int>(b) & 1) != 0;
  return static_cast<float>(odd ? -size : size);
}

float fmod(float dividend, float divisor) {
  const float limit = static_cast<float>(detail::absolute(divisor));
  if (dividend - dividend != 0.0f || divisor != divisor || limit == 0.0f)
    return static_cast<float>(detail::kNotANumber);
  // Subtract the largest 2^k multiple of the divisor that fits, from high to low: every difference
  // is exact in double.
  double rest = detail::absolute(dividend);
  const double step = limit;
  while (rest >= step) {
    const std::uint64_t gap =
        (std::bit_cast<std::uint64_t>(rest) >> 52) - (std::bit_cast<std::uint64_t>(step) >> 52);
    double multiple = std::bit_cast<double>(std::bit_cast<std::uint64_t>(step) + (gap << 52));
    if (multiple > rest) multiple *= 0.5;
    rest -= multiple;
  }
  return static_cast<float>(detail::with_sign_of(rest, dividend));
}

float mod(float dividend, float divisor) {
  const float rest = fmod(dividend, divisor);
  if (rest == 0.0f) return static_cast<float>(detail::with_sign_of(0.0, divisor));
  return (rest < 0.0f) != (divisor < 0.0f) ? rest + divisor : rest;
}

}  // namespace trnsim::numerics
