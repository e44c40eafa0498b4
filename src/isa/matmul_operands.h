// What the Tensor Engine's instructions share: the dtypes it reads, the tiles of its array, the
// PSUM bank rule, and the arithmetic itself (numerics/matmul.h defines the order of the additions).
#pragma once

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
// A result may not straddle more banks than the generation allows.
void check_bank(const Rules& rules, const Tile& dst);
// tile_position and tile_size of the array, both or neither.
void check_array_tile(const Rules& rules, const IntList& position, const IntList& size,
                      std::int64_t rows, std::int64_t columns);

enum class Accumulate { kOverwrite, kAdd, kAddWhereAccumulated };

// rows_per_partition: 2 where two contraction rows share a partition (double_row).
void multiply(CoreState& state, const Tile& dst, const Tile& stationary, const Tile& moving,
              int rows_per_partition, Accumulate accumulate);
// dst = stationary transposed, its columns placed where `moving` (a permutation) has its ones; bits
// kept.
void transpose_exactly(CoreState& state, const Tile& dst, const Tile& stationary,
                       const Tile& moving);

}  // namespace trnsim::isa
