// How much of a latency rests on what: the launch is clocked again with all figures of one
// confidence a little worse, for each confidence in turn.
#pragma once

#include <array>
#include <span>

#include "report/run.h"

namespace trnsim::report {

// Shares of what the latency grows by, in the order documented, measured, inferred, guess; they add
// up to 1, or to 0 where no figure matters.
using ConfidenceShare = std::array<double, 4>;

// Of long launches only the first instructions are asked.
ConfidenceShare confidence_share(std::span<const Run> launch);

}  // namespace trnsim::report
