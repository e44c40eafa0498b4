#include "program/operand_text.h"

#include <fmt/core.h>

namespace trnsim::program {

std::string sizes_text(const isa::Tile& tile) {
  std::string text = "[";
  for (int d = 0; d < tile.dims; ++d) text += fmt::format("{}{}", d ? ", " : "", tile.sizes[d]);
  return text + "]";
}

std::string strides_text(const isa::Tile& tile) {
  const int first = tile.on_chip() ? 1 : 0;
  std::string text = "[";
  for (int d = first; d < tile.dims; ++d)
    text += fmt::format("{}{}", d > first ? ", " : "", tile.strides[d]);
  return text + "]";
}

std::string operand_text(const Program& program, const isa::Tile& tile) {
  const auto life = program.tensors().find(tile.tensor);
  std::string text;
  if (life != program.tensors().end() && !life->second.name.empty()) text = life->second.name + " ";
  text += memory::space_name(tile.space);
  if (tile.on_chip()) {
    text += fmt::format(" partitions {}-{}", tile.start_partition,
                        tile.start_partition + tile.partitions() - 1);
  }
  text += fmt::format(" byte {} {} {} strides {}", tile.offset, numerics::info(tile.dtype).name,
                      sizes_text(tile), strides_text(tile));
  return tile.indirection ? text + " columns by an index" : text;
}

}  // namespace trnsim::program
