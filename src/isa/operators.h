// Which operators the Vector Engine takes where, and the rules that its elementwise instructions
// share.
#pragma once

#include "isa/operand.h"
#include "isa/rules.h"

namespace trnsim::isa {

// SBUF or PSUM and a dtype that converts to fp32; the packed x4 types are for the MX matmul only.
void check_tile(const Rules& rules, const char* name, const Tile& tile,
                Buffers buffers = Buffers::kOnChip);
// dst takes one element for each of data.
void check_like(const Rules& rules, const char* name, const Tile& tile, const char* name_dst,
                const Tile& dst);
// A number, or one element per partition of `data`.
void check_per_partition(const Rules& rules, const char* name, const ScalarOrTile& value,
                         const Tile& data);
// A required [P, 1] tile.
void check_column(const Rules& rules, const char* name, const Tile& column, const Tile& data);
// Vectors beside arithmetic operators must be fp32; immediates are anyway.
void check_float32(const Rules& rules, const char* name, const ScalarOrTile& value);

// An arithmetic operator of two operands.
void check_binary(const Rules& rules, const char* name, AluOp op);
// An arithmetic operator of an element and `operand`; unary ones take none, or 0. Only the first of
// two operators may be square or relu.
void check_scalar_operator(const Rules& rules, const char* name, AluOp op, const char* name_operand,
                           const ScalarOrTile& operand, bool first = true);

}  // namespace trnsim::isa
