// How long a group of ranks takes to exchange what a step needs: the one place where the planner
// asks for the time of a transfer.
//
// A group's ranks lie `stride` apart. It goes through the levels that it spans (chip, server,
// scale-up system, network) one inside the other: reduce-scatter inwards out, all-gather back. At
// each level the ranks of a chip or server share its links, groups that run side by side included.
#pragma once

#include <array>
#include <cstdint>

#include "fleet/work.h"

namespace trnsim::fleet {

struct Group {
  std::int64_t size = 1, stride = 1;
};

// Ranks that are joined at this level and what one of them gets when all communicate.
struct Level {
  std::int64_t ranks = 1;  // joined up to here, counted from rank 0
  double bandwidth = 0;    // bytes per second and rank, in and out each
  double latency = 0;      // seconds per step
  bool network = false;    // one server's bandwidth is shared by the ranks that send out
};

class Collectives {
 public:
  explicit Collectives(std::array<Level, 4> levels) : levels_(levels) {}

  // `bytes` of the larger of source and destination of one rank.
  double time(Transfer transfer, double bytes, const Group& group) const;
  // To the rank `stride` away.
  double send(double bytes, std::int64_t stride) const;
  const std::array<Level, 4>& levels() const { return levels_; }

 private:
  // Reduce-scatter or all-gather, both ways the same.
  double half(double bytes, const Group& group) const;
  std::array<Level, 4> levels_;
};

}  // namespace trnsim::fleet
