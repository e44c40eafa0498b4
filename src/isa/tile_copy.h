// What tensor_copy and its forms with a run-time address share: the rules, the copy, its rate.
#pragma once

#include "isa/cost.h"
#include "isa/rules.h"
#include "isa/state.h"

namespace trnsim::isa {

void check_tile_copy(const Rules& rules, const Tile& dst, const Tile& src, Engine engine);
// Equal dtypes keep every bit, others go through fp32.
void copy_tile(CoreState& state, const Tile& dst, const Tile& src);
// At least `cycles_min` cycles of the engine.
Cost tile_copy_cost(const CostModel& model, const Tile& dst, const Tile& src, Engine engine,
                    double cycles_min = 0);

// With the address of one side read from an SBUF tile as the instruction runs. The front end has
// resolved it, so dst and src are where it points; `offset` is the tile that was read.
struct DynamicCopy {
  Tile dst, src;
  Engine engine = Engine::kUnknown;
  Tile offset;

  Engine engine_on(int) const { return engine == Engine::kUnknown ? Engine::kVector : engine; }
  void check(const Rules& rules) const;
  void execute(CoreState& state) const { copy_tile(state, dst, src); }
  Cost cost(const CostModel& model) const;
};

inline constexpr const char* kCopyEngines = "Vector, Scalar (v3 and later), GpSimd (SBUF only)";
inline constexpr const char* kDynamicCopyCost =
    "max(MIN_II_DYNAMIC, N / s) cycles, s as for tensor_copy; + drain";

}  // namespace trnsim::isa
