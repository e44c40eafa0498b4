#include "report/instruction_text.h"

#include <fmt/core.h>

namespace trnsim::report {
std::string shape_text(const isa::Tile& tile) {
  std::string text;
  for (int d = 0; d < tile.dims; ++d) text += fmt::format("{}{}", d ? "x" : "", tile.sizes[d]);
  return text;
}

const isa::Tile* main_tile(const program::Program& program, std::size_t i) {
  const program::Instruction& instruction = program[i];
  const isa::Tile* first = nullptr;
  const isa::Tile* written = nullptr;
  isa::for_each_tile(program.type(instruction), program.args(instruction),
                     [&](const isa::FieldInfo& field, const isa::Tile& tile) {
                       if (!first) first = &tile;
                       if (!written && isa::writes(field.access)) written = &tile;
                     });
  return written ? written : first;
}

std::string label(const program::Program& program, std::size_t i) {
  if (const std::string* name = program.name(i)) return *name;
  std::string text(program.type(program[i]).info.name);
  if (const isa::Tile* tile = main_tile(program, i)) text.append(" ").append(shape_text(*tile));
  return text;
}

std::string operands(const program::Program& program, std::size_t i) {
  const program::Instruction& instruction = program[i];
  std::string text;
  isa::for_each_tile(program.type(instruction), program.args(instruction),
                     [&](const isa::FieldInfo& field, const isa::Tile& tile) {
                       const auto life = program.tensors().find(tile.tensor);
                       text +=
                           fmt::format("{}{}={}{}{} {} {}", text.empty() ? "" : ", ", field.name,
                                       life == program.tensors().end() ? "" : life->second.name,
                                       life == program.tensors().end() ? "" : " ",
                                       memory::space_name(tile.space),
                                       numerics::info(tile.dtype).name, shape_text(tile));
                     });
  return text;
}

const program::Site& site(const program::Program& program, std::size_t i) {
  static const program::Site kNowhere;
  const std::uint32_t index = program[i].site;
  return index < program.sites().size() ? program.sites()[index] : kNowhere;
}

}  // namespace trnsim::report
