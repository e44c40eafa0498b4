// Recorded programs on a chip that they were not recorded on: checked instruction by instruction as
// if the kernel were run there. Values play no part; where a kernel's control flow depends on the
// generation, it is not asked again.
#pragma once

#include <string_view>
#include <vector>

#include "catalog/chip.h"
#include "program/program.h"

namespace trnsim::core {

// The programs of one launch's cores, each instruction on the engine that the chip's generation
// runs it on. Throws the Error of the first instruction that is illegal there, with its number,
// line and rule: ProgramError, Unsupported and so on.
std::vector<program::Program> replay(std::vector<program::Program> cores, std::string_view kernel,
                                     const catalog::Chip& chip);

}  // namespace trnsim::core
