// The accumulator registers of the Scalar and Vector Engines: one fp32 per lane, kept from
// instruction to instruction, driven by reduce_cmd. The lane is the partition of the input that is
// reduced (assumed where the result goes to another quadrant).
#pragma once

#include <array>

#include "isa/cost.h"
#include "isa/operators.h"
#include "isa/row_groups.h"

namespace trnsim::isa {

// What a reset puts into a register: 0, 1, -inf, +inf, or what leaves logical operators unchanged.
float identity_of(AluOp op);

constexpr bool accumulates(ReduceCommand command) { return command >= ReduceCommand::kReduce; }

// The registers of the lanes of `data`, ready for accumulating: reset, loaded from `init` or kept.
float* prepare_registers(CoreState& state, std::array<float, 128>& registers, ReduceCommand command,
                         AluOp op, const Tile& data, const ScalarOrTile& init);

// One element per partition to take the registers; absent leaves them in the engine.
void check_reduce_res(const Rules& rules, const Tile& reduce_res, const Tile& data);

// The cost of an instruction that also reads its engine's accumulators out.
template <class EngineSpec>
Cost with_accumulator_read(Cost cost, const EngineSpec& engine) {
  const Picoseconds read = from_cycles(engine.accumulator_read_cycles, engine.clock);
  cost.occupancy += read;
  cost.latency += read;
  return cost;
}

}  // namespace trnsim::isa
