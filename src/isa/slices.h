// Parts of tiles: rows, the 32-partition quadrants within which the Vector Engine moves data across
// partitions, and the groups of partitions that GpSimd's processors work on.
#pragma once

#include <cstdint>

#include "isa/operand.h"

namespace trnsim::isa {

inline constexpr int kQuadrantPartitions = 32;
inline constexpr int kProcessorPartitions = 16;  // that one processor of GpSimd serves

// `count` rows of dimension 0 from row `first`: partitions on chip, slices of the outermost
// dimension in HBM.
inline Tile rows_of(const Tile& tile, std::int64_t first, std::int32_t count) {
  Tile part = tile;
  part.sizes[0] = count;
  if (tile.on_chip()) {
    part.start_partition = static_cast<std::uint16_t>(tile.start_partition + first);
  } else {
    part.offset += first * tile.strides[0];
  }
  return part;
}

inline Tile row_of(const Tile& tile, std::int64_t row) { return rows_of(tile, row, 1); }

}  // namespace trnsim::isa
