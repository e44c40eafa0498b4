#include "fleet/collectives.h"

#include <algorithm>
#include <cmath>

namespace trnsim::fleet {
namespace {

double d(std::int64_t value) { return static_cast<double>(value); }

// Members of a group among the first `ranks` ranks.
std::int64_t members(const Group& group, std::int64_t ranks) {
  return std::clamp<std::int64_t>(ranks / group.stride, 1, group.size);
}

// Rings of a few members; more of them exchange in a logarithmic number of steps.
double steps(std::int64_t count) { return count <= 16 ? d(count - 1) : 11 + std::log2(d(count)); }

}  // namespace

double Collectives::half(double bytes, const Group& group) const {
  double seconds = 0, left = bytes;
  std::int64_t inside = 1;
  for (const Level& level : levels_) {
    const std::int64_t here = members(group, level.ranks);
    const std::int64_t count = here / inside;
    if (count > 1) {
      seconds += left * d(count - 1) / d(count) / level.bandwidth + steps(count) * level.latency;
      left /= d(count);
      inside *= count;
    }
  }
  if (inside < group.size) {  // not whole servers: the rest goes over the network
    const std::int64_t count = (group.size + inside - 1) / inside;
    seconds +=
        left * d(count - 1) / d(count) / levels_[3].bandwidth + steps(count) * levels_[3].latency;
  }
  return seconds;
}

double Collectives::time(Transfer transfer, double bytes, const Group& group) const {
  if (group.size <= 1 || bytes <= 0) return 0;
  switch (transfer) {
    case Transfer::kAllGather:
    case Transfer::kReduceScatter:
      return half(bytes, group);
    case Transfer::kAllReduce:
      return 2 * half(bytes, group);
    case Transfer::kAllToAll: {
      // Every pair exchanges the same: what leaves a level is paid on that level's links.
      double seconds = 0;
      std::int64_t inside = 1;
      for (const Level& level : levels_) {
        const std::int64_t here = members(group, level.ranks);
        if (here > inside) {
          seconds += bytes * d(here - inside) / d(group.size) / level.bandwidth + level.latency;
          inside = here;
        }
      }
      if (inside < group.size)
        seconds += bytes * d(group.size - inside) / d(group.size) / levels_[3].bandwidth +
                   levels_[3].latency;
      return seconds;
    }
    case Transfer::kSend:
      return send(bytes, group.stride);
  }
  return 0;
}

double Collectives::send(double bytes, std::int64_t stride) const {
  for (const Level& level : levels_)
    if (stride < level.ranks) return bytes / level.bandwidth + level.latency;
  return bytes / levels_[3].bandwidth + levels_[3].latency;
}

}  // namespace trnsim::fleet
