// The Tensor Engine's current limiter (NeuronCore-v3 and later): half rate until the array has been
// active for a few microseconds, and again after it has idled.
#pragma once

#include "base/units.h"
#include "catalog/core.h"

namespace trnsim::timing {

class TensorRamp {
 public:
  explicit TensorRamp(const catalog::TensorEngine& engine);

  // Time that work of `full_rate` duration takes when it starts at `start`.
  Picoseconds stretch(Picoseconds start, Picoseconds full_rate);

 private:
  bool limited_ = false;
  double initial_rate_ = 1;
  Picoseconds full_after_;
  Picoseconds idle_limit_;
  Picoseconds active_;  // activity since the limit last returned
  Picoseconds last_end_;
};

}  // namespace trnsim::timing
