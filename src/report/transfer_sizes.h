// The transfers of a core by the length of their contiguous pieces, beside what the DMA engines
// make of pieces of that length.
#pragma once

#include <cstdint>
#include <vector>

#include "report/run.h"

namespace trnsim::report {

// Pieces of at least `piece_bytes` (a power of two) and less than twice that.
struct SizeClass {
  std::int64_t piece_bytes;
  std::int64_t transfers = 0, pieces = 0, bytes = 0;
  double efficiency = 0;  // share of the sustained rate that pieces of the mean length reach
  // Bytes by the time in which at least one such transfer moves data, whatever else moves then.
  double achieved_gb_per_s = 0;
  double achieved = 0;  // the same as a share of what all DMA engines of the core sustain
};

// In the order of length; classes without transfers are left out.
std::vector<SizeClass> transfer_sizes(const Run& run);

// Share of the sustained rate that an engine reaches with pieces of one length: each descriptor has
// a fixed cost beside its bytes.
double piece_efficiency(const catalog::Dma& dma, double piece_bytes);

}  // namespace trnsim::report
