// The watch that `stop_on_nan` sets on every instruction: who was the first to make a NaN or an
// infinity?
//
// An instruction makes a NaN when it writes one and no value that it reads is a NaN; it makes an
// infinity when it writes one and no value that it reads is a NaN or an infinity. "Reads" means all
// elements of all its operands, so that what merely moves or spreads is never blamed. Infinities on
// purpose are let through: an immediate (or the value of a memset) that is infinite, or too large
// for the destination's type, and masked values, which are at least as large as the largest bf16.
// Integers, bool and packed types are not looked at; fp8 is, whose NaN or infinity is its overflow.
// Accumulator registers are seen when they are written out.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "isa/instruction.h"
#include "memory/memory.h"
#include "program/program.h"

namespace trnsim::core {

class NonFinite : public Error {
 public:
  explicit NonFinite(std::string message)
      : Error(Fault::kProgram, std::move(message), "numerics.nan") {}
};

class NonFiniteWatch {
 public:
  // Takes the values of all operands, before the instruction is carried out.
  NonFiniteWatch(const isa::InstructionType& type, const void* args, memory::Memory& memory);

  // Looks at the results, after it; the instruction is the program's latest. Throws NonFinite.
  void check(const program::Program& program) const;

 private:
  struct Operand {
    const isa::FieldInfo* field;
    isa::Tile tile;
    std::vector<float> before;
  };
  struct Culprit {
    const Operand* operand = nullptr;
    std::vector<float> values;
    std::size_t index = 0;
  };

  bool on_purpose(const isa::Tile& written) const;
  Culprit culprit() const;
  [[noreturn]] void stop(const program::Program& program, const Culprit& culprit) const;

  const isa::InstructionType& type_;
  const void* args_;
  memory::Memory& memory_;
  std::vector<Operand> operands_;
  bool reads_nan_ = false;
  bool reads_huge_ = false;  // an infinity, or a masked value
};

}  // namespace trnsim::core
