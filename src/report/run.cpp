#include "report/run.h"

#include <algorithm>

namespace trnsim::report {

std::vector<std::span<const Run>> launches(std::span<const Run> runs) {
  std::vector<std::span<const Run>> list;
  for (std::size_t first = 0; first < runs.size();) {
    std::size_t last = first + 1;
    while (last < runs.size() && runs[last].core > runs[last - 1].core) ++last;
    list.push_back(runs.subspan(first, last - first));
    first = last;
  }
  return list;
}

Picoseconds latency(std::span<const Run> launch) {
  Picoseconds longest;
  for (const Run& run : launch) longest = std::max(longest, run.timeline->total);
  return longest;
}

}  // namespace trnsim::report
