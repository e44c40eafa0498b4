// What each line of the source cost one core: time, bytes, floating-point operations, standstill.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "report/critical_path.h"
#include "report/run.h"

namespace trnsim::report {

struct LineUse {
  program::Site site;
  std::int64_t instructions = 0;
  Picoseconds critical, busy;
  Picoseconds stalled;     // their queues stood still before them; before its first a queue is unused
  std::int64_t bytes = 0;  // moved by DMA
  std::int64_t flops = 0;
  double critical_share = 0;  // of the latency
  double busy_share = 0;      // of all queues' busy time
  double stalled_share = 0;   // of all queues' standstill
};

// All lines, the costliest first: by critical path, then by busy time.
std::vector<LineUse> line_uses(std::span<const Run> launch, std::size_t core,
                               std::span<const Step> path);

}  // namespace trnsim::report
