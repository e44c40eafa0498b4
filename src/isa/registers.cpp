#include "isa/registers.h"

#include <cmath>

namespace trnsim::isa {

void check_register_value(const Rules& rules, const char* name, double value) {
  const bool whole = value == std::floor(value);
  if (whole && (value < -2147483648.0 || value > 4294967295.0)) {
    rules.fail("range", "{} is {}, which does not fit a register of 32 bits", name, value);
  }
}

void check_register_memory(const Rules& rules, const char* name, const Tile& tile) {
  rules.operand(name, tile, Buffers::kSbufHbm);
  if (tile.elements() != 1) {
    rules.fail("elements", "{} has {} elements; a register holds one", name, tile.elements());
  }
  if (numerics::info(tile.dtype).packed > 1) {
    rules.fail("packed", "{} is of the packed type {}", name, numerics::info(tile.dtype).name);
  }
}

Cost register_access_cost(const CostModel& model) {
  const Picoseconds time = from_ns(model.core().sync.register_access);
  return {.occupancy = time, .latency = time};
}

}  // namespace trnsim::isa
