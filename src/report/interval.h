// The interval that nine of ten measured latencies should lie in, from two things: how far
// predictions of like kernels were from measurements (catalog/accuracy.h), and how sure the figures
// are that this one rests on.
#pragma once

#include <string>
#include <string_view>

#include "catalog/accuracy.h"
#include "report/confidence_share.h"
#include "report/summary.h"
#include "timing/schedule.h"

namespace trnsim::report {

// What decides whether measured kernels are like this one.
struct Likeness {
  std::string chip;
  double latency_ns = 0;
  double instructions = 0;  // over all cores
  double dma_share = 0;     // of the latency: lost to transfers, their issue and the memory
  timing::Scheduling scheduling = timing::Scheduling::kProgram;
  ConfidenceShare confidence{};
};
Likeness likeness(std::span<const Run> launch, const Summary& slowest,
                  const ConfidenceShare& confidence);

// "kernels in program order" or "reordered kernels": what a compiler does to a program is told less
// surely than what the chip does with it.
std::string_view kernel_part(const Likeness& what);

struct Interval {
  double low_ns = 0, high_ns = 0;
  bool interpolated = false;  // within the range of what was measured
  std::string basis;          // in words: what it rests on, or how it lies outside
};
// family: of catalog::Accuracy, for this part; null where nothing was measured.
Interval interval(const Likeness& what, const catalog::Family* family);

}  // namespace trnsim::report
