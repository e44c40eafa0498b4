#include <algorithm>

#include "isa/instruction.h"

namespace trnsim::isa {

#define TRNSIM_INSTRUCTION(name) InstructionType insn_##name();
#include "isa/instruction_list.inc"
#undef TRNSIM_INSTRUCTION

std::span<const InstructionType> instruction_table() {
  static const std::vector<InstructionType> table = [] {
    std::vector<InstructionType> list;
#define TRNSIM_INSTRUCTION(name) list.push_back(insn_##name());
#include "isa/instruction_list.inc"
#undef TRNSIM_INSTRUCTION
    std::sort(list.begin(), list.end(),
              [](const auto& a, const auto& b) { return a.info.name < b.info.name; });
    for (std::size_t i = 0; i < list.size(); ++i) list[i].opcode = static_cast<std::uint16_t>(i);
    return list;
  }();
  return table;
}

const InstructionType* find_instruction(std::string_view name) {
  for (const InstructionType& type : instruction_table()) {
    if (type.info.name == name) return &type;
  }
  return nullptr;
}

}  // namespace trnsim::isa
