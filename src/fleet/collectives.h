// How long a group of ranks takes to exchange what a step needs: what the fabric's clock says of
// the collective, on the topology that the ranks stand on, all groups alike at the same time.
//
// A collective is clocked once per kind, group and power of two of bytes; between these, time is
// taken as linear. Of a ring with more rounds than kClockedRounds so many are clocked, since its
// rounds are alike: what the later two thirds of these take, the rest takes per round.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "fabric/plan.h"
#include "fabric/topology.h"
#include "fleet/work.h"

namespace trnsim::fleet {

// Its ranks lie `stride` apart.
struct Group {
  std::int64_t size = 1, stride = 1;
};

class Collectives {
 public:
  static constexpr int kClockedRounds = 48;

  // `ranks`: how many of the topology's are in use, from the first.
  Collectives(fabric::Topology topology, std::int64_t ranks);

  // `bytes` of the larger of source and destination of one rank. Throws ConfigError where nothing
  // joins the ranks.
  double time(Transfer transfer, double bytes, const Group& group);
  // To the rank `stride` away, while as much comes from there.
  double send(double bytes, std::int64_t stride);
  const fabric::Topology& topology() const { return topology_; }

 private:
  // A group as it lies on systems: `local` members in each, `stride` apart.
  struct Shape {
    fabric::Collective collective = fabric::Collective::kAllReduce;
    std::int64_t local = 1, stride = 1, systems = 1, groups = 1;
    auto operator<=>(const Shape&) const = default;
  };
  Shape shape_of(fabric::Collective collective, const Group& group) const;
  double time(const Shape& shape, double bytes);
  double point(const Shape& shape, int power);  // of 2^power bytes
  double clocked(const Shape& shape, std::int64_t bytes) const;

  fabric::Topology topology_;
  std::int64_t ranks_;
  // Seconds by power of two, below 0 where not clocked yet.
  std::map<Shape, std::array<double, 64>> known_;
};

}  // namespace trnsim::fleet
