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

TimeSpan work_of(const Run& run, const timing::Entry& entry) {
  const Picoseconds begin = entry.start + entry.prelude;
  if (!timing::is_dma(entry.queue)) return {begin, entry.busy_end};
  return {begin, std::max(begin, entry.end - from_ns(run.chip->core.dma.completion_latency))};
}

Picoseconds covered(std::vector<TimeSpan> spans) {
  std::sort(spans.begin(), spans.end());
  Picoseconds sum, reached;
  for (const auto& [from, to] : spans) {
    const Picoseconds begin = std::max(from, reached);
    if (to <= begin) continue;
    sum += to - begin;
    reached = to;
  }
  return sum;
}

std::vector<const timing::Entry*> in_order_of_starts(const timing::Timeline& timeline) {
  std::vector<const timing::Entry*> entries;
  entries.reserve(timeline.entries.size());
  for (const timing::Entry& entry : timeline.entries) entries.push_back(&entry);
  if (timeline.scheduling == timing::Scheduling::kList) {
    std::stable_sort(
        entries.begin(), entries.end(),
        [](const timing::Entry* a, const timing::Entry* b) { return a->start < b->start; });
  }
  return entries;
}

Picoseconds latency(std::span<const Run> launch) {
  Picoseconds longest;
  for (const Run& run : launch) longest = std::max(longest, run.timeline->total);
  return longest;
}

}  // namespace trnsim::report
