// A tile operand in words, the same in the listing of a program and in error messages.
#pragma once

#include <string>

#include "program/program.h"

namespace trnsim::program {

// "acc PSUM partitions 0-127 byte 2048 float32 [128, 512] strides [4]": the tensor's name, then
// where it is (an HBM tensor has no partitions), type, sizes, and the distances in bytes from one
// element to the next, on chip without that of the partition.
std::string operand_text(const Program& program, const isa::Tile& tile);

// "[128, 512]" and "[4]": of the operand as above.
std::string sizes_text(const isa::Tile& tile);
std::string strides_text(const isa::Tile& tile);

}  // namespace trnsim::program
