#include "isa/operators.h"

#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

// The operators that no two-operand form on the Vector Engine has, each with the place that has it.
const char* elsewhere(AluOp op) {
  switch (op) {
    case AluOp::kPower:
      return "only tensor_tensor has it, on GpSimd";
    case AluOp::kRsqrt:
      return "use activation, or tensor_scalar with rsqrt alone";
    case AluOp::kReciprocal:
      return "use nki.isa.reciprocal or activation";
    case AluOp::kDivide:
      return "multiply by the reciprocal";
    case AluOp::kMod:
    case AluOp::kFmod:
      return "the hardware has no remainder";
    case AluOp::kBypass:
      return "leave the operator out";
    case AluOp::kAverage:
      return "add, then multiply by 1 / n";
    default:
      return nullptr;
  }
}

void check_arithmetic(const Rules& rules, const char* name, AluOp op) {
  if (numerics::is_bitvec(op)) {
    rules.fail("bitvec", "{} is {}, a bitwise operator; only arithmetic ones are legal here", name,
               numerics::name(op));
  }
  if (const char* place = elsewhere(op)) {
    rules.fail("op", "{} {} is not an operator of this instruction: {}", name, numerics::name(op),
               place);
  }
  if (op == AluOp::kAbsMax || op == AluOp::kAbsMin) rules.generation_at_least(4, "abs_max/abs_min");
  if (op == AluOp::kSquare || op == AluOp::kRelu) rules.generation_at_least(4, "op0 square/relu");
}

}  // namespace

void check_tile(const Rules& rules, const char* name, const Tile& tile, Buffers buffers) {
  rules.operand(name, tile, buffers);
  if (numerics::info(tile.dtype).packed > 1) {
    rules.fail("packed", "{} is {}; packed types are for nc_matmul_mx and quantize_mx only", name,
               numerics::info(tile.dtype).name);
  }
}

void check_like(const Rules& rules, const char* name, const Tile& tile, const char* name_dst,
                const Tile& dst) {
  check_tile(rules, name, tile);
  rules.same_partitions(name, tile, name_dst, dst);
  rules.same_free_size(name, tile, name_dst, dst);
}

void check_per_partition(const Rules& rules, const char* name, const ScalarOrTile& value,
                         const Tile& data) {
  if (value.is_tile()) check_tile(rules, name, value.tile);
  rules.per_partition(name, value, data);
}

void check_column(const Rules& rules, const char* name, const Tile& column, const Tile& data) {
  check_per_partition(rules, name, {.tile = column, .kind = ScalarOrTile::Kind::kTile}, data);
}

void check_float32(const Rules& rules, const char* name, const ScalarOrTile& value) {
  if (value.is_tile() && value.tile.dtype != Dtype::kFloat32) {
    rules.fail("operand_dtype", "{} is {} but must be float32", name,
               numerics::info(value.tile.dtype).name);
  }
}

void check_binary(const Rules& rules, const char* name, AluOp op) {
  check_arithmetic(rules, name, op);
  if (numerics::is_unary(op)) {
    rules.fail("op", "{} {} takes one operand; an operator of two is needed", name,
               numerics::name(op));
  }
}

void check_scalar_operator(const Rules& rules, const char* name, AluOp op, const char* name_operand,
                           const ScalarOrTile& operand, bool first) {
  check_arithmetic(rules, name, op);
  if (!first && (op == AluOp::kSquare || op == AluOp::kRelu)) {
    rules.fail("op", "{} {} is legal as the first operator only", name, numerics::name(op));
  }
  if (!numerics::is_unary(op)) {
    if (!operand.present())
      rules.fail("operand", "{} {} needs {}", name, numerics::name(op), name_operand);
  } else if (operand.is_tile() || operand.scalar != 0) {
    rules.fail("unary_operand", "{} {} takes no operand; {} must be None or 0", name,
               numerics::name(op), name_operand);
  }
}

}  // namespace trnsim::isa
