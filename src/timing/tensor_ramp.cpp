#include "timing/tensor_ramp.h"

#include <algorithm>

namespace trnsim::timing {

TensorRamp::TensorRamp(const catalog::TensorEngine& engine) {
  if (!engine.ramp) return;
  limited_ = true;
  initial_rate_ = engine.ramp->initial_rate;
  full_after_ = from_ns(engine.ramp->full_after);
  // Utilisation over the window falls below the threshold once the array has idled for the rest of
  // it.
  idle_limit_ = from_ns(engine.ramp->rearm_window * (1 - engine.ramp->rearm_threshold));
}

Picoseconds TensorRamp::stretch(Picoseconds start, Picoseconds full_rate) {
  if (!limited_) return full_rate;
  if (start - last_end_ > idle_limit_) active_ = {};
  const Picoseconds cold_left{std::max<std::int64_t>(0, full_after_.count - active_.count)};
  // What of the work fits into the cold period runs slower; the rest at full rate.
  const auto cold_work =
      static_cast<std::int64_t>(static_cast<double>(cold_left.count) * initial_rate_);
  const std::int64_t slow = std::min(cold_work, full_rate.count);
  const auto slow_time = static_cast<std::int64_t>(static_cast<double>(slow) / initial_rate_);
  const Picoseconds duration{slow_time + full_rate.count - slow};
  active_ += duration;
  last_end_ = start + duration;
  return duration;
}

}  // namespace trnsim::timing
