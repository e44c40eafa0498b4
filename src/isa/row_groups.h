// Blocks of rows as in rows.h, for instructions with operands of one value per partition: they need
// to know which rows they are given, and reductions want eight rows at once.
#pragma once

#include "isa/rows.h"

namespace trnsim::isa {

inline constexpr int kReductionRows = 8;  // what the kernels of numerics take together

// A [P, 1] operand, read as a whole before anything is written, so that a destination may share its
// bytes. An absent operand counts as 0.
class Column {
 public:
  Column(CoreState& state, const ScalarOrTile& value, int partitions);

  const float* at(int partition) const { return values_.data() + partition * stride_; }
  std::ptrdiff_t stride() const { return stride_; }

 private:
  std::array<float, memory::kPartitionsMax> values_;
  std::ptrdiff_t stride_ = 0;
};

// One value per partition into a [P, 1] tile, converted to its dtype.
void write_column(CoreState& state, const Tile& tile, const float* values);

// Space for intermediate rows that lasts until the next use of the slot; slots 4 and 5 are free.
inline float* working_rows(CoreState& state, int slot, std::size_t floats) {
  std::vector<float>& buffer = state.scratch[slot];
  if (buffer.size() < floats) buffer.resize(floats);
  return buffer.data();
}

// Calls fn(first row, output rows, input rows...) group by group.
template <class Fn, class... Inputs>
void for_each_group(CoreState& state, int at_least, const Tile& dst,
                    std::initializer_list<const Tile*> sources, Fn&& fn, const Inputs&... inputs) {
  int slot = 0;
  std::array<RowReader, sizeof...(Inputs)> readers{RowReader(state, ++slot, inputs)...};
  RowWriter writer(state, 0, dst, sources);
  const int rows = dst.partitions();
  const int step =
      writer.needs_whole_tile() ? rows : std::max(at_least, rows_per_block(dst.free_elements()));
  for (int first = 0; first < rows; first += step) {
    const int count = std::min(step, rows - first);
    const MutableRows out = writer.rows(first, count);
    std::apply([&](auto&... reader) { fn(first, out, reader.rows(first, count)...); }, readers);
    writer.commit();
  }
}

}  // namespace trnsim::isa
