// Bit vectors and 32-bit integers: the operators of elementwise.h that do not pass through fp32.
#include <type_traits>

#include "base/error.h"
#include "numerics/elementwise.h"
#include "numerics/target.h"

namespace trnsim::numerics {

namespace {

// clang-format off
template <class T>
TRNSIM_ALWAYS_INLINE T eval_bits(AluOp op, T a, T b) {
  constexpr std::uint32_t kWidth = 8 * sizeof(T);
  switch (op) {
    case AluOp::kBitwiseAnd: return static_cast<T>(a & b);
    case AluOp::kBitwiseOr: return static_cast<T>(a | b);
    case AluOp::kBitwiseXor: return static_cast<T>(a ^ b);
    case AluOp::kInvert: return static_cast<T>(~a);
    case AluOp::kLeftShift: return static_cast<T>(b < kWidth ? static_cast<std::uint32_t>(a) << (b & 31u) : 0u);
    default: return static_cast<T>(b < kWidth ? static_cast<std::uint32_t>(a) >> (b & 31u) : 0u);
  }
}
// clang-format on

struct BitRows {
  const void* a;
  std::ptrdiff_t a_stride;
  const void* b;
  std::ptrdiff_t b_stride;
  void* out;
  std::ptrdiff_t out_stride;
  std::size_t rows;
  std::size_t n;
};

enum class Shape { kTwoRows, kScalar, kScalarFirst };

template <class T, AluOp kOp, Shape kShape>
TRNSIM_ALWAYS_INLINE void bit_rows(const BitRows& work) {
  const T* a = static_cast<const T*>(work.a);
  const T* b = static_cast<const T*>(work.b);
  T* out = static_cast<T*>(work.out);
  for (std::size_t r = 0; r < work.rows; ++r) {
    TRNSIM_IVDEP
    for (std::size_t i = 0; i < work.n; ++i) {
      const T other = kShape == Shape::kTwoRows ? b[i] : b[0];
      out[i] = kShape == Shape::kScalarFirst ? eval_bits<T>(kOp, other, a[i])
                                             : eval_bits<T>(kOp, a[i], other);
    }
    a += work.a_stride;
    b += work.b_stride;
    out += work.out_stride;
  }
}

template <class T, Shape kShape>
TRNSIM_ALWAYS_INLINE void bit_rows(AluOp op, const BitRows& work) {
  switch (op) {
    case AluOp::kBitwiseAnd:
      bit_rows<T, AluOp::kBitwiseAnd, kShape>(work);
      break;
    case AluOp::kBitwiseOr:
      bit_rows<T, AluOp::kBitwiseOr, kShape>(work);
      break;
    case AluOp::kBitwiseXor:
      bit_rows<T, AluOp::kBitwiseXor, kShape>(work);
      break;
    case AluOp::kInvert:
      bit_rows<T, AluOp::kInvert, kShape>(work);
      break;
    case AluOp::kLeftShift:
      bit_rows<T, AluOp::kLeftShift, kShape>(work);
      break;
    default:
      bit_rows<T, AluOp::kRightShift, kShape>(work);
      break;
  }
}

template <class T>
TRNSIM_ALWAYS_INLINE void bit_rows(AluOp op, Shape shape, const BitRows& work) {
  switch (shape) {
    case Shape::kTwoRows:
      bit_rows<T, Shape::kTwoRows>(op, work);
      break;
    case Shape::kScalar:
      bit_rows<T, Shape::kScalar>(op, work);
      break;
    case Shape::kScalarFirst:
      bit_rows<T, Shape::kScalarFirst>(op, work);
      break;
  }
}

TRNSIM_MULTIVERSION
void run_bits(AluOp op, int bytes, Shape shape, const BitRows& work) {
  switch (bytes) {
    case 1:
      bit_rows<std::uint8_t>(op, shape, work);
      break;
    case 2:
      bit_rows<std::uint16_t>(op, shape, work);
      break;
    default:
      bit_rows<std::uint32_t>(op, shape, work);
      break;
  }
}

void require_bits(AluOp op, int bytes) {
  if (!is_bitvec(op)) internal_error("{} is not a bit-vector operator", name(op));
  if (bytes != 1 && bytes != 2 && bytes != 4)
    internal_error("bit vectors of {} bytes do not exist", bytes);
}

// clang-format off
// T is the signed or unsigned view; arithmetic is done on the unsigned one, where wrapping is defined.
template <class T>
TRNSIM_ALWAYS_INLINE std::uint32_t eval_int32(AluOp op, std::uint32_t a, std::uint32_t b) {
  const auto x = static_cast<T>(a);
  const auto y = static_cast<T>(b);
  switch (op) {
    case AluOp::kAdd: return a + b;
    case AluOp::kSubtract: return a - b;
    case AluOp::kMultiply: return a * b;
    case AluOp::kMaximum: return x > y ? a : b;
    case AluOp::kMinimum: return x < y ? a : b;
    case AluOp::kEqual: return a == b;
    case AluOp::kNotEqual: return a != b;
    case AluOp::kGreater: return x > y;
    case AluOp::kGreaterEqual: return x >= y;
    case AluOp::kLess: return x < y;
    case AluOp::kLessEqual: return x <= y;
    case AluOp::kLogicalAnd: return (a != 0) & (b != 0);
    case AluOp::kLogicalOr: return (a != 0) | (b != 0);
    case AluOp::kLogicalXor: return (a != 0) ^ (b != 0);
    case AluOp::kLogicalNot: return a == 0;
    case AluOp::kAbs: return x < T{0} ? 0u - a : a;
    case AluOp::kSquare: return a * a;
    case AluOp::kRelu: return x < T{0} ? 0u : a;
    case AluOp::kBypass: return a;
    default:
      if (is_bitvec(op)) return eval_bits<std::uint32_t>(op, a, b);
      unsupported("{} on 32-bit integers. Use float32 operands", name(op));
  }
}
// clang-format on

struct IntRows {
  const std::uint32_t* a;
  std::ptrdiff_t a_stride;
  const std::uint32_t* b;
  std::ptrdiff_t b_stride;
  std::uint32_t* out;
  std::ptrdiff_t out_stride;
  std::size_t rows;
  std::size_t n;
};

template <class T>
TRNSIM_ALWAYS_INLINE void int_rows(AluOp op, const IntRows& work) {
  for (std::size_t r = 0; r < work.rows; ++r) {
    const std::uint32_t* a = work.a + static_cast<std::ptrdiff_t>(r) * work.a_stride;
    const std::uint32_t* b = work.b + static_cast<std::ptrdiff_t>(r) * work.b_stride;
    std::uint32_t* out = work.out + static_cast<std::ptrdiff_t>(r) * work.out_stride;
    TRNSIM_IVDEP
    for (std::size_t i = 0; i < work.n; ++i) out[i] = eval_int32<T>(op, a[i], b[i]);
  }
}

// The common operators are spelled out so that each gets a loop of its own.
template <class T>
TRNSIM_ALWAYS_INLINE void run_int_rows(AluOp op, const IntRows& work) {
  switch (op) {
    case AluOp::kAdd:
      int_rows<T>(AluOp::kAdd, work);
      break;
    case AluOp::kSubtract:
      int_rows<T>(AluOp::kSubtract, work);
      break;
    case AluOp::kMultiply:
      int_rows<T>(AluOp::kMultiply, work);
      break;
    case AluOp::kMaximum:
      int_rows<T>(AluOp::kMaximum, work);
      break;
    case AluOp::kMinimum:
      int_rows<T>(AluOp::kMinimum, work);
      break;
    default:
      int_rows<T>(op, work);
      break;
  }
}

TRNSIM_MULTIVERSION
void run_int32(AluOp op, bool is_signed, const IntRows& work) {
  is_signed ? run_int_rows<std::int32_t>(op, work) : run_int_rows<std::uint32_t>(op, work);
}

}  // namespace

std::uint32_t apply_bits(AluOp op, int bytes, std::uint32_t a, std::uint32_t b) {
  require_bits(op, bytes);
  switch (bytes) {
    case 1:
      return eval_bits<std::uint8_t>(op, static_cast<std::uint8_t>(a),
                                     static_cast<std::uint8_t>(b));
    case 2:
      return eval_bits<std::uint16_t>(op, static_cast<std::uint16_t>(a),
                                      static_cast<std::uint16_t>(b));
    default:
      return eval_bits<std::uint32_t>(op, a, b);
  }
}

void bitwise(AluOp op, int bytes, const void* a, std::ptrdiff_t a_stride, const void* b,
             std::ptrdiff_t b_stride, void* out, std::ptrdiff_t out_stride, std::size_t rows,
             std::size_t n) {
  require_bits(op, bytes);
  run_bits(op, bytes, Shape::kTwoRows, {a, a_stride, b, b_stride, out, out_stride, rows, n});
}

void bitwise_scalar(AluOp op, int bytes, const void* a, std::ptrdiff_t a_stride,
                    const void* scalars, std::ptrdiff_t scalar_stride, bool reversed, void* out,
                    std::ptrdiff_t out_stride, std::size_t rows, std::size_t n) {
  require_bits(op, bytes);
  run_bits(op, bytes, reversed ? Shape::kScalarFirst : Shape::kScalar,
           {a, a_stride, scalars, scalar_stride, out, out_stride, rows, n});
}

std::uint32_t apply_int32(AluOp op, bool is_signed, std::uint32_t a, std::uint32_t b) {
  return is_signed ? eval_int32<std::int32_t>(op, a, b) : eval_int32<std::uint32_t>(op, a, b);
}

void binary_int32(AluOp op, bool is_signed, const std::uint32_t* a, std::ptrdiff_t a_stride,
                  const std::uint32_t* b, std::ptrdiff_t b_stride, std::uint32_t* out,
                  std::ptrdiff_t out_stride, std::size_t rows, std::size_t n) {
  run_int32(op, is_signed, {a, a_stride, b, b_stride, out, out_stride, rows, n});
}

}  // namespace trnsim::numerics
