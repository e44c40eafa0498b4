// A collective on a topology as a sequence of schedules, each among ranks at equal distances: first
// within an instance, then along the other axes of the system, then over the network, and back.
//
// The rank with the number r within the groups (groups one after the other, `size` ranks each) is
// member (r / stride) % members of its schedule in a stage. Reducing stages narrow what a rank
// works on to the chunk it owns, gathering stages widen it again; the sizes of both follow from
// `levels`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/algorithm.h"
#include "fabric/topology.h"

namespace trnsim::fabric {

inline constexpr std::int64_t kMembersMax = std::int64_t{1} << 24;

enum class Collective : std::uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kPermute,
  kBroadcast,
  kSendRecv,
};
// "all_reduce", ...; throws ConfigError for an unknown name.
Collective collective_from_name(std::string_view name);
std::string_view collective_name(Collective collective);
std::vector<std::string> collective_names();

struct Request {
  Collective collective = Collective::kAllReduce;
  std::int64_t elements = 0;  // of the larger of source and destination of one rank
  int element_bytes = 1;
  std::int64_t size = 0;            // ranks of a group
  std::int64_t groups = 1;          // alike and at the same time
  std::vector<std::int64_t> ranks;  // by group, or none for 0, 1, 2, ...
  std::string algorithm;            // empty: as the runtime chooses; "ring", "kangaring+rdh", ...
  Schedule schedule;                // a user's own, instead of any algorithm
  std::vector<std::pair<int, int>> pairs;  // of a permute
  bool in_memory = true;                   // sources and destinations in HBM, not in SBUF

  std::int64_t bytes() const { return elements * element_bytes; }
  std::int64_t rank(std::int64_t number) const {
    return ranks.empty() ? number : ranks[static_cast<std::size_t>(number)];
  }
};

enum class Phase : std::uint8_t { kReduce, kGather, kWhole };

struct Level {
  Schedule schedule;  // tells which chunk a member owns
  std::int64_t stride = 1;
};

struct Stage {
  Schedule schedule;
  Phase phase = Phase::kWhole;
  std::int64_t stride = 1;
  int level = 0;  // levels that narrow what the stage works on
};

struct Plan {
  Request request;
  std::vector<Level> levels;
  std::vector<Stage> stages;
  std::string algorithm;  // "mesh", "kangaring+rdh"

  int member(const Stage& stage, std::int64_t number) const {
    return static_cast<int>(number / stage.stride % stage.schedule->members());
  }
  std::int64_t peer(const Stage& stage, std::int64_t number, int to) const {
    return number + (to - member(stage, number)) * stage.stride;
  }
  // The elements that a rank works on in front of a level.
  Range region(std::int64_t number, int level) const;
  // What a channel carries of some chunks: its share of each of them.
  std::vector<Range> pieces(const Stage& stage, std::int64_t number, int channel,
                            Chunks chunks) const;
  std::int64_t size(const Stage& stage, std::int64_t number, int channel, Chunks chunks) const;
};

// Throws ConfigError or Unsupported for what the topology or the runtime cannot do.
Plan make_plan(const Topology& topology, Request request);

}  // namespace trnsim::fabric
