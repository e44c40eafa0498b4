// The arithmetic-logic operators of the engines (names as in nki.language), over rows of fp32 or of
// raw bits.
//
// `apply` and `apply_bits` are the specification; every row kernel equals them bit for bit, except
// that the sign and payload of a NaN are not specified (from_float makes them canonical). One
// rounding per operator, no fused operations. Comparisons and logical operators give 1.0 or 0.0.
// maximum, minimum, abs_max and abs_min propagate NaN as numpy does. Unary operators work on the
// first operand. Reductions and scans run in ascending order with one fp32 accumulator; kernels are
// fast because they take several rows at once. divide, mod and fmod are not in hardware: they serve
// the language level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trnsim::numerics {

enum class AluOp : std::uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kMaximum,
  kMinimum,
  kEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
  kLess,
  kLessEqual,
  kLogicalAnd,
  kLogicalOr,
  kLogicalXor,
  kLogicalNot,
  kPower,
  kAbsMax,  // the operand of larger magnitude with its sign; the second one on a tie
  kAbsMin,
  kAbs,
  kSquare,
  kRelu,
  kRsqrt,
  kReciprocal,
  kDivide,
  kMod,      // sign of the divisor
  kFmod,     // sign of the dividend
  kBypass,   // the first operand
  kAverage,  // adds; whoever reduces divides by the count
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kInvert,
  kLeftShift,
  kRightShift,  // logical; a count of the width or more gives zero
};
inline constexpr std::size_t kAluOpCount = 34;

constexpr bool is_bitvec(AluOp op) { return op >= AluOp::kBitwiseAnd; }
constexpr bool is_comparison(AluOp op) { return op >= AluOp::kEqual && op <= AluOp::kLessEqual; }
constexpr bool is_unary(AluOp op) {
  return op == AluOp::kLogicalNot || (op >= AluOp::kAbs && op <= AluOp::kReciprocal) ||
         op == AluOp::kInvert;
}
std::string_view name(AluOp op);
std::optional<AluOp> alu_op_from_name(
    std::string_view name);  // "add", "subtract", ..., as nl.<name>

// The scalar specifications. Bit vectors are `bytes` wide (1, 2 or 4) in the low bits.
float apply(AluOp op, float a, float b);
std::uint32_t apply_bits(AluOp op, int bytes, std::uint32_t a, std::uint32_t b);

// All kernels: rows of n contiguous elements, strides in elements between rows. An output may be
// one of the inputs, element for element, but must not overlap one in any other way.
void binary(AluOp op, const float* a, std::ptrdiff_t a_stride, const float* b,
            std::ptrdiff_t b_stride, float* out, std::ptrdiff_t out_stride, std::size_t rows,
            std::size_t n);

// a op scalar, or scalar op a if `reversed`; one scalar per row, or one for all with a scalar
// stride of 0.
void binary_scalar(AluOp op, const float* a, std::ptrdiff_t a_stride, const float* scalars,
                   std::ptrdiff_t scalar_stride, bool reversed, float* out,
                   std::ptrdiff_t out_stride, std::size_t rows, std::size_t n);

// Bit-vector operators on elements of 1, 2 or 4 bytes; pointers aligned to the element.
void bitwise(AluOp op, int bytes, const void* a, std::ptrdiff_t a_stride, const void* b,
             std::ptrdiff_t b_stride, void* out, std::ptrdiff_t out_stride, std::size_t rows,
             std::size_t n);
void bitwise_scalar(AluOp op, int bytes, const void* a, std::ptrdiff_t a_stride,
                    const void* scalars, std::ptrdiff_t scalar_stride, bool reversed, void* out,
                    std::ptrdiff_t out_stride, std::size_t rows, std::size_t n);

// GpSimd's native 32-bit integers: arithmetic wraps, comparisons and logical operators give 1 or 0.
// Takes add, subtract, multiply, maximum, minimum, the comparisons, logical_*, abs, square, relu,
// bypass and the bit vectors.
std::uint32_t apply_int32(AluOp op, bool is_signed, std::uint32_t a, std::uint32_t b);
void binary_int32(AluOp op, bool is_signed, const std::uint32_t* a, std::ptrdiff_t a_stride,
                  const std::uint32_t* b, std::ptrdiff_t b_stride, std::uint32_t* out,
                  std::ptrdiff_t out_stride, std::size_t rows, std::size_t n);

// accumulator = apply(op, accumulator, a[i]) for i = 0, 1, ..., n - 1.
float reduce(AluOp op, float init, const float* a, std::size_t n);
// The same for each row: accumulators[r] holds the initial value and takes the result.
void reduce_rows(AluOp op, const float* a, std::ptrdiff_t a_stride, std::size_t rows, std::size_t n,
                 float* accumulators);

struct ScanOps {
  AluOp op0;
  AluOp op1;
  bool reverse0 = false;
  bool reverse1 = false;
};

// state = op1(op0(data0[i], state), data1[i]) and out[i] = state; reverse0 and reverse1 swap the
// operands of op0 and op1. states[r] holds the initial value of row r and takes the last. data1 may
// be null if op1 is bypass.
void scan_rows(const ScanOps& ops, const float* data0, std::ptrdiff_t data0_stride,
               const float* data1, std::ptrdiff_t data1_stride, float* states, float* out,
               std::ptrdiff_t out_stride, std::size_t rows, std::size_t n);

}  // namespace trnsim::numerics
