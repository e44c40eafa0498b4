// Tiles as rows of fp32: one row per partition, free dimensions flattened, converted from and to
// the tile's dtype. This is the number path of Vector, Scalar and GpSimd: read, convert to fp32,
// compute, convert to the destination's dtype. Tiles are worked on in blocks of rows that fit the
// host's first-level cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <tuple>

#include "isa/operand.h"
#include "isa/state.h"

namespace trnsim::isa {

struct Rows {
  const float* data = nullptr;
  std::ptrdiff_t stride = 0;  // floats from row to row; 0 repeats one row
  std::size_t count = 0;
  std::size_t size = 0;  // elements per row

  const float* row(std::size_t i) const { return data + static_cast<std::ptrdiff_t>(i) * stride; }
};

struct MutableRows {
  float* data = nullptr;
  std::ptrdiff_t stride = 0;
  std::size_t count = 0;
  std::size_t size = 0;

  float* row(std::size_t i) const { return data + static_cast<std::ptrdiff_t>(i) * stride; }
};

// Readers and writers refer to the tile that they are given; it must outlive them.
class RowReader {
 public:
  RowReader(CoreState& state, int slot, const Tile& tile);
  // A scalar, or one element per partition.
  RowReader(CoreState& state, int slot, const ScalarOrTile& value);

  Rows rows(int first, int count);

 private:
  CoreState* state_;
  const Tile* tile_ = nullptr;
  memory::Walk walk_;  // left empty where rows are read in place
  int slot_;
  const std::byte* data_ = nullptr;
  std::ptrdiff_t pitch_ = 0;
  bool direct_ = false;
  float scalar_ = 0;
  bool is_scalar_ = false;
};

class RowWriter {
 public:
  RowWriter(CoreState& state, int slot, const Tile& tile,
            std::initializer_list<const Tile*> sources);

  // Rows to fill; commit() must follow before the next block.
  MutableRows rows(int first, int count);
  void commit();
  // The destination overlaps a source in a way that row by row would read what was just written.
  bool needs_whole_tile() const { return whole_; }

 private:
  CoreState* state_;
  const Tile* tile_;
  memory::Walk walk_;  // left empty where rows are written in place
  int slot_;
  std::byte* data_ = nullptr;
  std::ptrdiff_t pitch_ = 0;
  bool whole_ = false;
  bool direct_ = false;
  MutableRows current_;
  int first_ = 0;
};

// Rows that fit the first-level cache together, at least one.
int rows_per_block(std::int64_t row_elements);

// Calls fn(output rows, input rows...) block by block.
template <class Fn, class... Inputs>
void for_each_block(CoreState& state, const Tile& dst, std::initializer_list<const Tile*> sources,
                    Fn&& fn, const Inputs&... inputs) {
  int slot = 0;
  std::array<RowReader, sizeof...(Inputs)> readers{RowReader(state, ++slot, inputs)...};
  RowWriter writer(state, 0, dst, sources);
  const int rows = dst.partitions();
  const int step = writer.needs_whole_tile() ? rows : rows_per_block(dst.free_elements());
  for (int first = 0; first < rows; first += step) {
    const int count = std::min(step, rows - first);
    const MutableRows out = writer.rows(first, count);
    std::apply([&](auto&... reader) { fn(out, reader.rows(first, count)...); }, readers);
    writer.commit();
  }
}

}  // namespace trnsim::isa
