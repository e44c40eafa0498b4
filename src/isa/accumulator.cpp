#include "isa/accumulator.h"

#include <algorithm>
#include <limits>

namespace trnsim::isa {

float identity_of(AluOp op) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (op) {
    case AluOp::kMultiply:
    case AluOp::kLogicalAnd:
      return 1;
    case AluOp::kMaximum:
      return -kInfinity;
    case AluOp::kMinimum:
    case AluOp::kAbsMin:
      return kInfinity;
    default:
      return 0;
  }
}

float* prepare_registers(CoreState& state, std::array<float, 128>& registers, ReduceCommand command,
                         AluOp op, const Tile& data, const ScalarOrTile& init) {
  float* lanes = registers.data() + data.start_partition;
  const int count = data.partitions();
  if (command == ReduceCommand::kReset || command == ReduceCommand::kResetReduce) {
    std::fill_n(lanes, count, identity_of(op));
  } else if (command == ReduceCommand::kLoadReduce) {
    const Column values(state, init, count);
    for (int p = 0; p < count; ++p) lanes[p] = *values.at(p);
  }
  return lanes;
}

void check_reduce_res(const Rules& rules, const Tile& reduce_res, const Tile& data) {
  if (!reduce_res.present()) return;
  if (reduce_res.free_elements() != 1 || reduce_res.partitions() != data.partitions()) {
    rules.fail("reduce_res", "reduce_res is [{}, {}] but must be [{}, 1]", reduce_res.partitions(),
               reduce_res.free_elements(), data.partitions());
  }
  check_tile(rules, "reduce_res", reduce_res);
}

}  // namespace trnsim::isa
