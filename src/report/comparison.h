// Two reports side by side: what became faster or slower, and which cause the difference lies in.
// Launches are paired in their order.
#pragma once

#include <string>
#include <vector>

#include "report/losses.h"
#include "report/run.h"

namespace trnsim::report {

struct LossChange {
  Loss loss;
  Picoseconds before, after;
};

struct LaunchChange {
  std::string kernel_before, kernel_after, chip_before, chip_after;
  Picoseconds before, after;
  std::int64_t instructions_before = 0, instructions_after = 0;  // over all cores
  std::vector<LossChange> losses;  // of the slowest cores, the largest change first
  double speedup() const;          // before by after
};

struct Comparison {
  std::vector<LaunchChange> launches;
  std::size_t unpaired_before = 0, unpaired_after = 0;
};

Comparison compare(std::span<const Run> before, std::span<const Run> after);

std::string text(const Comparison& comparison);
std::string json(const Comparison& comparison);

}  // namespace trnsim::report
