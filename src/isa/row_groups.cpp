#include "isa/row_groups.h"

namespace trnsim::isa {

Column::Column(CoreState& state, const ScalarOrTile& value, int partitions) {
  values_[0] = static_cast<float>(value.scalar);
  if (!value.is_tile()) return;
  stride_ = 1;
  RowReader reader(state, 5, value.tile);
  const Rows rows = reader.rows(0, partitions);
  for (std::size_t r = 0; r < rows.count; ++r) values_[r] = *rows.row(r);
}

void write_column(CoreState& state, const Tile& tile, const float* values) {
  RowWriter writer(state, 0, tile, {});
  const MutableRows rows = writer.rows(0, tile.partitions());
  for (std::size_t r = 0; r < rows.count; ++r) *rows.row(r) = values[r];
  writer.commit();
}

}  // namespace trnsim::isa
