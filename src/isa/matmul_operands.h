// What the Tensor Engine's instructions share: the dtypes it reads, the tiles of its array, the
// PSUM bank rule, and the arithmetic itself (numerics/matmul.h defines the order of the additions).
#pragma once

#include <functional>

#include "isa/cost.h"
#include "isa/operand.h"
#include "isa/rules.h"
#include "isa/state.h"

namespace trnsim::isa {

inline bool is_fp32_like(const Tile& t) {
  return t.dtype == Dtype::kFloat32 || t.dtype == Dtype::kTfloat32;
}
inline bool is_fp8(const Tile& t) {
  return t.dtype == Dtype::kFloat8E4M3 || t.dtype == Dtype::kFloat8E5M2 ||
         t.dtype == Dtype::kFloat8E4M3FN || t.dtype == Dtype::kFloat8E3M4;
}

void check_matmul_dtype(const Rules& rules, const char* name, const Tile& tile);
// A product of m x n against the array, the size of PSUM and dst.
void check_product(const Rules& rules, const Tile& dst, std::int64_t m, std::int64_t n);
// A result may not straddle more banks than the generation allows.
void check_bank(const Rules& rules, const Tile& dst);
// fp32, or bf16 where PSUM accumulates it.
void check_result_dtype(const Rules& rules, const Tile& dst);
// accumulate=True needs something to add to.
void check_accumulate(const Rules& rules, const Tile& dst, const OptionalInt& accumulate);
// tile_position and tile_size of the array, both or neither.
void check_array_tile(const Rules& rules, const IntList& position, const IntList& size,
                      std::int64_t rows, std::int64_t columns);

enum class Accumulate { kOverwrite, kAdd, kAddWhereAccumulated };
inline Accumulate accumulate_of(const OptionalInt& flag) {
  if (!flag.present) return Accumulate::kAddWhereAccumulated;
  return flag.value ? Accumulate::kAdd : Accumulate::kOverwrite;
}

// Takes a product into PSUM: product(out, pitch, add) writes it row by row, or adds it to what is
// there.
using WriteProduct = std::function<void(float* out, std::ptrdiff_t pitch, bool add)>;
void accumulate_product(CoreState& state, const Tile& dst, Accumulate accumulate,
                        const WriteProduct& product);

// rows_per_partition: 2 where two contraction rows share a partition (double_row).
void multiply(CoreState& state, const Tile& dst, const Tile& stationary, const Tile& moving,
              int rows_per_partition, Accumulate accumulate);
// dst = stationary transposed, its columns placed where `moving` (a permutation) has its ones; bits
// kept.
void transpose_exactly(CoreState& state, const Tile& dst, const Tile& stationary,
                       const Tile& moving);

// Of a matmul with m stationary columns whose moving columns take `cycles` in all. Loading the
// stationary tile overlaps with the matmul before.
Cost matmul_cost(const CostModel& model, double m, double cycles);
// The same on a tile of the array, if position and size name one: matmuls on other parts run beside
// it, as far as the moving data can be read.
Cost on_array_tile(const CostModel& model, const Cost& cost, const IntList& position,
                   const IntList& size);

}  // namespace trnsim::isa
