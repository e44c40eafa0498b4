// What to make of a launch's latency: what binds it and what to do first, found by clocking it
// again without what it loses time to; what it rests on; and how far off it may be.
#pragma once

#include <string>
#include <vector>

#include "report/confidence_share.h"
#include "report/interval.h"
#include "report/summary.h"
#include "report/what_if.h"

namespace trnsim::report {

struct Verdict {
  std::string sentence;
  std::vector<Gain> advice;  // best first
  bool asked = true;         // false where it would have taken too long to clock it again
  ConfidenceShare confidence{};
  Interval interval;
};

// kBrief does not clock the launch again: no advice, nothing on what the latency rests on.
enum class Effort { kBrief, kFull };

// `slowest` is the summary of the core that ends last.
Verdict judge(std::span<const Run> launch, const Summary& slowest, Effort effort = Effort::kFull);

// The core of a launch that ends last.
std::size_t slowest_core(std::span<const Run> launch);

}  // namespace trnsim::report
