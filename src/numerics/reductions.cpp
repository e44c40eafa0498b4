// Reductions and scans: strictly sequential along a row, eight rows at a time. A square of 8 x 8
// elements is transposed so that a vector holds one column; lanes never meet, which is why the bits
// equal the one-row loop.
#include "base/error.h"
#include "numerics/alu.h"
#include "numerics/elementwise.h"
#include "numerics/target.h"

namespace trnsim::numerics {

namespace {

using namespace detail;

constexpr std::size_t kLanes = 8;

// A vector that may lie anywhere. Not memcpy: GCC splits that into halves, and reading the whole
// back then stalls.
typedef float LooseLanes __attribute__((vector_size(32), aligned(4), may_alias));

TRNSIM_ALWAYS_INLINE void load_lanes(Lanes& to, const float* from) {
  to = *reinterpret_cast<const LooseLanes*>(from);
}
TRNSIM_ALWAYS_INLINE void store_lanes(float* to, const Lanes& from) {
  *reinterpret_cast<LooseLanes*>(to) = from;
}

TRNSIM_ALWAYS_INLINE void transpose(Lanes (&square)[kLanes]) {
  Lanes pairs[kLanes];
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kLanes; i += 2) {
    pairs[i] = __builtin_shufflevector(square[i], square[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[i + 1] = __builtin_shufflevector(square[i], square[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  Lanes quads[kLanes];
#pragma GCC unroll 8
  for (std::size_t half = 0; half < kLanes; half += 4) {
#pragma GCC unroll 8
    for (std::size_t i = 0; i < 2; ++i) {
      const Lanes& low = pairs[half + i];
      const Lanes& high = pairs[half + 2 + i];
      quads[half + 2 * i] = __builtin_shufflevector(low, high, 0, 1, 8, 9, 4, 5, 12, 13);
      quads[half + 2 * i + 1] = __builtin_shufflevector(low, high, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 4; ++i) {
    square[i] = __builtin_shufflevector(quads[i], quads[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    square[i + 4] = __builtin_shufflevector(quads[i], quads[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

TRNSIM_ALWAYS_INLINE void load_columns(Lanes (&columns)[kLanes], const float* from,
                                       std::ptrdiff_t stride) {
#pragma GCC unroll 8
  for (std::size_t r = 0; r < kLanes; ++r)
    load_lanes(columns[r], from + static_cast<std::ptrdiff_t>(r) * stride);
  transpose(columns);
}

struct OneRow {
  template <AluOp kOp>
  static TRNSIM_ALWAYS_INLINE void run(const float* a, std::size_t n, float* accumulator) {
    float state = *accumulator;
    for (std::size_t i = 0; i < n; ++i) state = eval<kOp>(state, a[i]);
    *accumulator = state;
  }
};

// Whole squares only; the caller finishes what is left of the rows.
struct EightRows {
  template <AluOp kOp>
  static TRNSIM_ALWAYS_INLINE void run(const float* a, std::ptrdiff_t stride, std::size_t n,
                                       float* accumulators) {
    if constexpr (has_lanes(kOp)) {
      Lanes state;
      load_lanes(state, accumulators);
      for (std::size_t i = 0; i < n; i += kLanes) {
        Lanes columns[kLanes];
        load_columns(columns, a + i, stride);
#pragma GCC unroll 8
        for (std::size_t c = 0; c < kLanes; ++c) state = eval<kOp>(state, columns[c]);
      }
      store_lanes(accumulators, state);
    } else {
      for (std::size_t r = 0; r < kLanes; ++r) {
        OneRow::run<kOp>(a + static_cast<std::ptrdiff_t>(r) * stride, n, accumulators + r);
      }
    }
  }
};

bool reduce_one(AluOp op, const float* a, std::size_t n, float* accumulator) {
  return dispatch<OneRow>(op, a, n, accumulator);
}

TRNSIM_MULTIVERSION
void reduce_eight(AluOp op, const float* a, std::ptrdiff_t stride, std::size_t n,
                  float* accumulators) {
  dispatch<EightRows>(op, a, stride, n, accumulators);
}

[[noreturn]] void refuse(AluOp op) {
  internal_error("the bit-vector operator {} was asked to reduce or scan fp32 values", name(op));
}

struct LaneStep {
  template <AluOp kOp>
  static TRNSIM_ALWAYS_INLINE void run(const Lanes* a, const Lanes* b, Lanes* out) {
    if constexpr (has_lanes(kOp)) {
      *out = eval<kOp>(*a, *b);
    } else {
      for (std::size_t r = 0; r < kLanes; ++r) (*out)[r] = eval<kOp>((*a)[r], (*b)[r]);
    }
  }
};

TRNSIM_ALWAYS_INLINE Lanes step(AluOp op, bool reverse, const Lanes& data, const Lanes& state) {
  Lanes out;
  dispatch<LaneStep>(op, reverse ? &state : &data, reverse ? &data : &state, &out);
  return out;
}

// What most scans are (linear recurrences) is worth a loop without the switch.
template <bool kLinear>
TRNSIM_ALWAYS_INLINE void scan_squares(const ScanOps& ops, const float* data0,
                                       std::ptrdiff_t stride0, const float* data1,
                                       std::ptrdiff_t stride1, float* states, float* out,
                                       std::ptrdiff_t out_stride, std::size_t n) {
  Lanes state;
  load_lanes(state, states);
  for (std::size_t i = 0; i < n; i += kLanes) {
    Lanes left[kLanes];
    Lanes right[kLanes];
    load_columns(left, data0 + i, stride0);
    load_columns(right, data1 != nullptr ? data1 + i : data0 + i,
                 data1 != nullptr ? stride1 : stride0);
    if constexpr (kLinear) {
#pragma GCC unroll 8
      for (std::size_t c = 0; c < kLanes; ++c) left[c] = state = left[c] * state + right[c];
    } else {
      for (std::size_t c = 0; c < kLanes; ++c) {
        left[c] = state =
            step(ops.op1, ops.reverse1, step(ops.op0, ops.reverse0, left[c], state), right[c]);
      }
    }
    transpose(left);
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kLanes; ++r)
      store_lanes(out + static_cast<std::ptrdiff_t>(r) * out_stride + i, left[r]);
  }
  store_lanes(states, state);
}

TRNSIM_MULTIVERSION
void scan_eight(const ScanOps& ops, const float* data0, std::ptrdiff_t stride0, const float* data1,
                std::ptrdiff_t stride1, float* states, float* out, std::ptrdiff_t out_stride,
                std::size_t n) {
  const bool linear = ops.op0 == AluOp::kMultiply && ops.op1 == AluOp::kAdd && data1 != nullptr;
  linear ? scan_squares<true>(ops, data0, stride0, data1, stride1, states, out, out_stride, n)
         : scan_squares<false>(ops, data0, stride0, data1, stride1, states, out, out_stride, n);
}

void scan_one(const ScanOps& ops, const float* data0, const float* data1, float* state, float* out,
              std::size_t n) {
  float value = *state;
  for (std::size_t i = 0; i < n; ++i) {
    const float right = data1 != nullptr ? data1[i] : 0.0f;
    value = ops.reverse0 ? apply(ops.op0, value, data0[i]) : apply(ops.op0, data0[i], value);
    value = ops.reverse1 ? apply(ops.op1, right, value) : apply(ops.op1, value, right);
    out[i] = value;
  }
  *state = value;
}

}  // namespace

float reduce(AluOp op, float init, const float* a, std::size_t n) {
  if (!reduce_one(op, a, n, &init)) refuse(op);
  return init;
}

void reduce_rows(AluOp op, const float* a, std::ptrdiff_t stride, std::size_t rows, std::size_t n,
                 float* accumulators) {
  if (is_bitvec(op)) refuse(op);
  const std::size_t whole = n / kLanes * kLanes;
  std::size_t r = 0;
  for (; r + kLanes <= rows; r += kLanes) {
    const float* row = a + static_cast<std::ptrdiff_t>(r) * stride;
    reduce_eight(op, row, stride, whole, accumulators + r);
    for (std::size_t k = 0; k < kLanes; ++k) {
      reduce_one(op, row + static_cast<std::ptrdiff_t>(k) * stride + whole, n - whole,
                 accumulators + r + k);
    }
  }
  for (; r < rows; ++r)
    reduce_one(op, a + static_cast<std::ptrdiff_t>(r) * stride, n, accumulators + r);
}

void scan_rows(const ScanOps& ops, const float* data0, std::ptrdiff_t stride0, const float* data1,
               std::ptrdiff_t stride1, float* states, float* out, std::ptrdiff_t out_stride,
               std::size_t rows, std::size_t n) {
  if (is_bitvec(ops.op0)) refuse(ops.op0);
  if (is_bitvec(ops.op1)) refuse(ops.op1);
  const auto at = [](const float* base, std::size_t row, std::ptrdiff_t stride,
                     std::size_t column) {
    return base == nullptr ? nullptr : base + static_cast<std::ptrdiff_t>(row) * stride + column;
  };
  const std::size_t whole = n / kLanes * kLanes;
  const std::size_t grouped = rows / kLanes * kLanes;
  for (std::size_t r = 0; r < grouped; r += kLanes) {
    scan_eight(ops, at(data0, r, stride0, 0), stride0, at(data1, r, stride1, 0), stride1,
               states + r, out + static_cast<std::ptrdiff_t>(r) * out_stride, out_stride, whole);
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t done = r < grouped ? whole : 0;
    scan_one(ops, at(data0, r, stride0, done), at(data1, r, stride1, done), states + r,
             out + static_cast<std::ptrdiff_t>(r) * out_stride + done, n - done);
  }
}

}  // namespace trnsim::numerics
