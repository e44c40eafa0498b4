// The activation functions of ScalarE and the few elementary functions the operators need.
//
// Hardware evaluates piecewise polynomials whose tables are not public. Here a function is the
// mathematical one, computed in double with + - * / and square root only, no libm, then rounded
// once to fp32: the same bits on every host, within 0.51 ulp of exact. Two exceptions: sin outside
// [-pi, pi] extrapolates with a cubic as documented (sin(9.0) = 27.65), and sqrt, rsqrt and
// reciprocal are correctly rounded although ScalarE's are less precise. The limited argument ranges
// of log, arctan, sqrt, rsqrt and reciprocal are for the instruction to check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trnsim::numerics {

enum class ActivationFunction : std::uint8_t {
  kCopy,
  kSquare,
  kSigmoid,
  kRelu,
  kPrelu,  // negative inputs times alpha
  kGelu,
  kGeluDx,
  kGeluApprxTanh,
  kGeluApprxSigmoid,
  kGeluApprxSigmoidDx,
  kSilu,
  kSiluDx,
  kTanh,
  kSoftplus,
  kMish,
  kErf,
  kErfDx,
  kExp,
  kSign,
  kAbs,
  kLog,
  kSin,
  kArctan,
  kSqrt,
  kRsqrt,
  kReciprocal,
};
inline constexpr std::size_t kActivationFunctionCount = 26;

std::string_view name(ActivationFunction function);
// Names as nl.<name>; also "identity" and "lrelu", which are copy and prelu.
std::optional<ActivationFunction> activation_function_from_name(std::string_view name);

// y[i] = function(x[i]); y may be x. alpha is used by prelu only.
void activate(ActivationFunction function, const float* x, float* y, std::size_t n,
              float alpha = 0.0f);
inline float activate(ActivationFunction function, float x, float alpha = 0.0f) {
  activate(function, &x, &x, 1, alpha);
  return x;
}

float power(float base, float exponent);    // special values as in C's pow
float fmod(float dividend, float divisor);  // exact; sign of the dividend
float mod(float dividend, float divisor);   // as Python's %: sign of the divisor

}  // namespace trnsim::numerics
