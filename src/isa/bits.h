// Tiles as the integers that they store, for the paths that bypass fp32: bitwise operations, 32-bit
// integer arithmetic on GpSimd, and copies that must keep every bit.
#pragma once

#include "isa/operand.h"
#include "isa/state.h"

namespace trnsim::isa {

inline bool is_int32(const Tile& tile) {
  return tile.dtype == Dtype::kInt32 || tile.dtype == Dtype::kUint32;
}

// dst = source, bit by bit; same element size on both sides, shapes may differ.
void copy_bits(CoreState& state, const Tile& dst, const Tile& source);

// Bitwise and exact integer forms of dst = a <op> b. Integers narrower than the destination are
// extended.
void integer_tiles(CoreState& state, AluOp op, const Tile& dst, const Tile& a, const Tile& b);

// The integers of a tile in order, row after row; written back truncated to the dtype.
std::vector<std::int64_t> read_integers(const CoreState& state, const Tile& tile);
void write_integers(CoreState& state, const Tile& tile, const std::vector<std::int64_t>& values);
std::int64_t integer_op(AluOp op, std::int64_t a, std::int64_t b, Dtype dtype);

}  // namespace trnsim::isa
