#include "numerics/elementwise.h"

#include <array>

#include "base/error.h"
#include "numerics/alu.h"
#include "numerics/target.h"

namespace trnsim::numerics {

namespace {

using namespace detail;

constexpr std::array<std::string_view, kAluOpCount> kNames{
    "add",         "subtract",    "multiply",      "maximum",    "minimum",     "equal",
    "not_equal",   "greater",     "greater_equal", "less",       "less_equal",  "logical_and",
    "logical_or",  "logical_xor", "logical_not",   "power",      "abs_max",     "abs_min",
    "abs",         "square",      "relu",          "rsqrt",      "reciprocal",  "divide",
    "mod",         "fmod",        "bypass",        "average",    "bitwise_and", "bitwise_or",
    "bitwise_xor", "invert",      "left_shift",    "right_shift"};

[[noreturn]] void refuse(AluOp op) {
  internal_error("the bit-vector operator {} was applied to fp32 values", name(op));
}

struct One {
  template <AluOp kOp>
  static TRNSIM_ALWAYS_INLINE void run(float a, float b, float* out) {
    *out = eval<kOp>(a, b);
  }
};

struct Rows {
  const float* a;
  std::ptrdiff_t a_stride;
  const float* b;
  std::ptrdiff_t b_stride;
  float* out;
  std::ptrdiff_t out_stride;
  std::size_t rows;
  std::size_t n;
};

// ivdep: an output that is one of the inputs would otherwise send the loop down its scalar path.
struct TwoRows {
  template <AluOp kOp>
  static TRNSIM_ALWAYS_INLINE void run(const Rows* work) {
    const float* a = work->a;
    const float* b = work->b;
    float* out = work->out;
    for (std::size_t r = 0; r < work->rows; ++r) {
      TRNSIM_IVDEP
      for (std::size_t i = 0; i < work->n; ++i) out[i] = eval<kOp>(a[i], b[i]);
      a += work->a_stride;
      b += work->b_stride;
      out += work->out_stride;
    }
  }
};

template <bool kReversed>
struct RowAndScalar {
  template <AluOp kOp>
  static TRNSIM_ALWAYS_INLINE void run(const Rows* work) {
    const float* a = work->a;
    const float* scalar = work->b;
    float* out = work->out;
    for (std::size_t r = 0; r < work->rows; ++r) {
      const float s = *scalar;
      TRNSIM_IVDEP
      for (std::size_t i = 0; i < work->n; ++i)
        out[i] = kReversed ? eval<kOp>(s, a[i]) : eval<kOp>(a[i], s);
      a += work->a_stride;
      scalar += work->b_stride;
      out += work->out_stride;
    }
  }
};

TRNSIM_MULTIVERSION
bool run_binary(AluOp op, const Rows* work) { return dispatch<TwoRows>(op, work); }

TRNSIM_MULTIVERSION
bool run_scalar(AluOp op, const Rows* work) { return dispatch<RowAndScalar<false>>(op, work); }

TRNSIM_MULTIVERSION
bool run_scalar_reversed(AluOp op, const Rows* work) {
  return dispatch<RowAndScalar<true>>(op, work);
}

}  // namespace

std::string_view name(AluOp op) { return kNames[static_cast<std::size_t>(op)]; }

std::optional<AluOp> alu_op_from_name(std::string_view wanted) {
  for (std::size_t i = 0; i < kAluOpCount; ++i) {
    if (kNames[i] == wanted) return static_cast<AluOp>(i);
  }
  return std::nullopt;
}

float apply(AluOp op, float a, float b) {
  float out = 0;
  if (!dispatch<One>(op, a, b, &out)) refuse(op);
  return out;
}

void binary(AluOp op, const float* a, std::ptrdiff_t a_stride, const float* b,
            std::ptrdiff_t b_stride, float* out, std::ptrdiff_t out_stride, std::size_t rows,
            std::size_t n) {
  const Rows work{a, a_stride, b, b_stride, out, out_stride, rows, n};
  if (!run_binary(op, &work)) refuse(op);
}

void binary_scalar(AluOp op, const float* a, std::ptrdiff_t a_stride, const float* scalars,
                   std::ptrdiff_t scalar_stride, bool reversed, float* out,
                   std::ptrdiff_t out_stride, std::size_t rows, std::size_t n) {
  const Rows work{a, a_stride, scalars, scalar_stride, out, out_stride, rows, n};
  if (!(reversed ? run_scalar_reversed(op, &work) : run_scalar(op, &work))) refuse(op);
}

}  // namespace trnsim::numerics
