// What tensor_copy_predicated and select_reduce share: the cost of choosing element by element.
#pragma once

#include "isa/cost.h"

namespace trnsim::isa {

// Two tiles in SBUF share the read port; one of them in PSUM, a number instead of a tile, or two
// 16-bit tiles go at the rate of one.
inline Cost predicated_cost(const CostModel& model, const Tile& dst, const Tile& predicate,
                            const Tile& source) {
  const catalog::VectorEngine& vector = model.core().vector;
  const bool one_stream =
      !source.present() || source.space == Space::kPsum || predicate.space == Space::kPsum;
  const bool narrow = source.element_bytes() == 2 && predicate.element_bytes() == 2;
  const double cycles = one_stream ? vector.tensor_tensor_psum_cycles.value
                        : narrow
                            ? vector.predicated_copy_cycles / vector.tensor_tensor_16bit_speedup
                            : vector.predicated_copy_cycles.value;
  double slow = std::max(model.stride_slowdown(dst), model.stride_slowdown(predicate));
  if (source.present()) slow = std::max(slow, model.stride_slowdown(source));
  return model.vector(static_cast<double>(dst.free_elements()) * cycles * slow);
}

}  // namespace trnsim::isa
