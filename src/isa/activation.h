// y = op(data * scale + bias) on the Scalar Engine, with an optional sum of y per partition: what
// activation and activation_reduce share. Two roundings before the function, as written; the sum
// takes y before it is converted.
#pragma once

#include "isa/accumulator.h"
#include "numerics/functions.h"

namespace trnsim::isa {

struct ActivationCall {
  const Tile& dst;
  numerics::ActivationFunction op;
  const Tile& data;
  const ScalarOrTile& bias;
  const ScalarOrTile& scale;
  const Tile& reduce_res;
  ReduceCommand reduce_cmd;

  void check(const Rules& rules) const;
  void execute(CoreState& state) const;
  Cost cost(const CostModel& model) const;
};

inline constexpr ScalarOrTile kUnitScale{
    .tile = {}, .scalar = 1, .kind = ScalarOrTile::Kind::kScalar};

}  // namespace trnsim::isa
