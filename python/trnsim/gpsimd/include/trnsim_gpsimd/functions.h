// Factories and elementwise operations on whole tensors. Operands have equal shapes and dtypes;
// there is no broadcasting. Arithmetic is in fp32, or in 64-bit integers for integer tensors.
#pragma once

#include <trnsim_gpsimd/tensor.h>

namespace trnsim_gpsimd {

using c10::Scalar;
using torch::Tensor;

// Codes of the operations; functions.cpp says what they do.
enum class Unary { kAbs, kCeil, kFloor, kSin, kCos, kTan, kLog, kLog2, kLog10, kExp, kNot };
enum class Binary { kPow, kAdd, kSub, kMul, kDiv, kAnd, kOr };

// An operand of an operation: a tensor or a number.
struct Operand {
  Operand(const Tensor& value) : tensor(&value), number(0) {}
  Operand(const Scalar& value) : tensor(nullptr), number(value) {}
  const Tensor* tensor;
  Scalar number;
};

Tensor& apply(const char* name, Unary op, Tensor& result, const Tensor& self);
Tensor& apply(const char* name, Binary op, Tensor& result, const Operand& left,
              const Operand& right, const Scalar& alpha = 1);
Tensor& clamp(Tensor& result, const Tensor& self, const Scalar& low, const Scalar& high);
Tensor alike(const Operand& left, const Operand& right);

}  // namespace trnsim_gpsimd

namespace torch {

Tensor empty(IntArrayRef size, TensorOptions options);
Tensor full(IntArrayRef size, const Scalar& fill_value, TensorOptions options);
Tensor zeros(IntArrayRef size, TensorOptions options);
Tensor ones(IntArrayRef size, TensorOptions options);
Tensor eye(int64_t n, int64_t m, TensorOptions options);

#define TRNSIM_UNARY(name, code)                                                  \
  inline Tensor& name##_out(Tensor& result, const Tensor& self) {                 \
    return trnsim_gpsimd::apply(#name, trnsim_gpsimd::Unary::code, result, self); \
  }                                                                               \
  inline Tensor name(const Tensor& self) {                                        \
    Tensor result = empty(self.sizes(), self.options());                          \
    return trnsim_gpsimd::apply(#name, trnsim_gpsimd::Unary::code, result, self); \
  }
TRNSIM_UNARY(abs, kAbs)
TRNSIM_UNARY(ceil, kCeil)
TRNSIM_UNARY(floor, kFloor)
TRNSIM_UNARY(sin, kSin)
TRNSIM_UNARY(cos, kCos)
TRNSIM_UNARY(tan, kTan)
TRNSIM_UNARY(log, kLog)
TRNSIM_UNARY(log2, kLog2)
TRNSIM_UNARY(log10, kLog10)
TRNSIM_UNARY(exp, kExp)
TRNSIM_UNARY(bitwise_not, kNot)
#undef TRNSIM_UNARY

// The forms that take a number on one side or neither.
#define TRNSIM_BINARY(name, code, Left, Right)                                            \
  inline Tensor& name##_out(Tensor& result, const Left& self, const Right& other) {       \
    return trnsim_gpsimd::apply(#name, trnsim_gpsimd::Binary::code, result, self, other); \
  }                                                                                       \
  inline Tensor name(const Left& self, const Right& other) {                              \
    Tensor result = trnsim_gpsimd::alike(self, other);                                    \
    return trnsim_gpsimd::apply(#name, trnsim_gpsimd::Binary::code, result, self, other); \
  }
#define TRNSIM_SCALED(name, code, Right)                                                         \
  inline Tensor& name##_out(Tensor& result, const Tensor& self, const Right& other,              \
                            const Scalar& alpha = 1) {                                           \
    return trnsim_gpsimd::apply(#name, trnsim_gpsimd::Binary::code, result, self, other, alpha); \
  }                                                                                              \
  inline Tensor name(const Tensor& self, const Right& other, const Scalar& alpha = 1) {          \
    Tensor result = trnsim_gpsimd::alike(self, other);                                           \
    return trnsim_gpsimd::apply(#name, trnsim_gpsimd::Binary::code, result, self, other, alpha); \
  }
TRNSIM_BINARY(pow, kPow, Tensor, Scalar)
TRNSIM_BINARY(pow, kPow, Scalar, Tensor)
TRNSIM_BINARY(pow, kPow, Tensor, Tensor)
TRNSIM_SCALED(add, kAdd, Scalar)
TRNSIM_SCALED(add, kAdd, Tensor)
TRNSIM_SCALED(sub, kSub, Scalar)
TRNSIM_SCALED(sub, kSub, Tensor)
TRNSIM_BINARY(mul, kMul, Tensor, Scalar)
TRNSIM_BINARY(mul, kMul, Tensor, Tensor)
TRNSIM_BINARY(div, kDiv, Tensor, Scalar)
TRNSIM_BINARY(div, kDiv, Tensor, Tensor)
TRNSIM_BINARY(bitwise_and, kAnd, Tensor, Tensor)
TRNSIM_BINARY(bitwise_and, kAnd, Tensor, Scalar)
TRNSIM_BINARY(bitwise_and, kAnd, Scalar, Tensor)
TRNSIM_BINARY(bitwise_or, kOr, Tensor, Tensor)
TRNSIM_BINARY(bitwise_or, kOr, Tensor, Scalar)
TRNSIM_BINARY(bitwise_or, kOr, Scalar, Tensor)
#undef TRNSIM_BINARY
#undef TRNSIM_SCALED

inline Tensor& clamp_out(Tensor& result, const Tensor& self, const Scalar& minval,
                         const Scalar& maxval) {
  return trnsim_gpsimd::clamp(result, self, minval, maxval);
}
inline Tensor clamp(const Tensor& self, const Scalar& minval, const Scalar& maxval) {
  Tensor result = empty(self.sizes(), self.options());
  return trnsim_gpsimd::clamp(result, self, minval, maxval);
}

}  // namespace torch
