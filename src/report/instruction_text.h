// An instruction in words: what a slice of the trace and a line of the list are called.
#pragma once

#include <string>

#include "program/program.h"

namespace trnsim::report {

// "128x512": all dimensions of a tile.
std::string shape_text(const isa::Tile& tile);

// The tile that an instruction is known by: the first one that it writes, else the first; null when
// it has none.
const isa::Tile* main_tile(const program::Program& program, std::size_t i);

// The user's own name for it, or "tensor_copy 128x512".
std::string label(const program::Program& program, std::size_t i);

// "dst=acc PSUM float32 128x512, moving=...", every tile argument.
std::string operands(const program::Program& program, std::size_t i);

// The line that it came from; an empty site where none was recorded.
const program::Site& site(const program::Program& program, std::size_t i);

}  // namespace trnsim::report
