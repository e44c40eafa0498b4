// How much of a result rests on what: the critical path, weighed by the confidence of the
// catalogue's numbers that set each step's length. A step is as good as the weakest of its numbers.
#pragma once

#include <array>
#include <span>

#include "report/critical_path.h"

namespace trnsim::report {

// Shares of the critical path, in the order documented, measured, inferred, guess; they add up
// to 1.
using ConfidenceShare = std::array<double, 4>;

// The path may lead through all cores of the launch.
ConfidenceShare confidence_share(std::span<const Run> launch, std::span<const Step> path);

}  // namespace trnsim::report
