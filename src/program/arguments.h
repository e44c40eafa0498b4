// An instruction's arguments in a file: field by field, names instead of codes, so that neither the
// layout of a struct nor the order of an enumeration matters to it.
#pragma once

#include "isa/instruction.h"
#include "program/bytes.h"

namespace trnsim::program {

void write_tile(ByteWriter& out, const isa::Tile& tile);
isa::Tile read_tile(ByteReader& in);

void write_field(ByteWriter& out, const isa::FieldInfo& field, const std::byte* at);
void read_field(ByteReader& in, const isa::FieldInfo& field, std::byte* at);

}  // namespace trnsim::program
