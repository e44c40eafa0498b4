// A collective algorithm as a schedule: what each member of a group sends in each round of each
// channel. A member enters a round when its sends and receives of the round before are complete;
// there is no other synchronisation. One interface serves the clock (engine.h), which asks for
// sizes, and the arithmetic (execute.h), which moves the data.
//
// Follows aws-neuron-sdk: neuron-runtime/explore/{intranode,internode}-collective-comm.rst.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace trnsim::fabric {

// Chunks [first, first + count) of `of` equal ones that a channel's part of the buffer is cut into.
struct Chunks {
  int first = 0, count = 0, of = 1;
};

struct Range {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};
// Cut as evenly as elements allow: sizes differ by one element at most.
Range part(Range whole, Chunks chunks);

struct Send {
  int to = 0;
  Chunks chunks{};
  bool reduces = false;    // the receiver adds it to its own
  std::int8_t reads = 1;   // accesses of the sender's memory per byte, duplicates written included
  std::int8_t writes = 1;  // of the receiver's
  // Before sending, members [first, first + count) of the sender's chip are reduced as well.
  int block_first = 0, block_count = 0;
};

enum class StepKind : std::uint8_t { kRing, kDirect, kDirectReducing };

class Algorithm {
 public:
  virtual ~Algorithm() = default;
  virtual const char* name() const = 0;
  virtual int members() const = 0;
  virtual int channels() const { return 1; }
  virtual int rounds() const = 0;
  virtual StepKind step(int round) const = 0;
  // Appends. Asked for any member and any round, in any order.
  virtual void sends(int member, int channel, int round, std::vector<Send>& out) const = 0;
  virtual int receives(int member, int channel, int round) const = 0;
  // Whether arrivals wait and are reduced, in the order of senders, when the result is written
  // (one rounding), or are reduced one by one.
  virtual bool reduces_late() const { return true; }
  // The chunk of members() that a member ends up with when reducing, and starts with when
  // gathering.
  virtual int owned(int member) const { return member; }
  // Members that hold each chunk's result for others as well (the primaries of pairs).
  virtual int block() const { return 1; }
  // Whether every member does the same relative to itself, so that one may stand for all.
  virtual bool is_uniform() const { return true; }
  // Transfers leave through one queue of the rank, slower than a stream.
  virtual bool slow_port() const { return false; }
};

using Schedule = std::shared_ptr<const Algorithm>;

// The orders in which a ring visits its members, one channel each.
using Orders = std::vector<std::vector<int>>;
Orders natural_order(int members, bool both_ways);

// Rings. `pairs`: members come in pairs on a chip, and only one of each pair, alternating between
// channels, is in the ring (KangaRing).
Schedule ring_reduce_scatter(Orders orders, bool pairs);
Schedule ring_all_gather(Orders orders, bool pairs);

// Recursive halving and doubling among 2^p groups of `local` members, with an exchange within the
// group before (reducing) or after (gathering).
// `torus`: the groups are the places of a torus of fours, whose neighbours are those of a
// hypercube.
Schedule halving_reduce_scatter(int members, int local, bool torus);
Schedule doubling_all_gather(int members, int local, bool torus);

// Everybody with everybody; `local` members share a chip and divide the destinations between them.
// `small`: as the runtime sends small messages, through one queue per rank.
Schedule mesh_reduce_scatter(int members, int local, bool small);
Schedule mesh_all_gather(int members, int local, bool small);
Schedule single_step_mesh(int members);

// All-to-all, one step for each peer at once; `bytes` of chunk (i, j) may differ: see plan.h.
Schedule direct_all_to_all(int members);
Schedule binomial_broadcast(int members, int root);
// Pairs (source, target), each source and each target once.
Schedule permutation(int members, std::vector<std::pair<int, int>> pairs);

// A schedule written out by a user: rounds of sends.
struct Listed {
  int from = 0;
  Send send;
};
Schedule listed(std::string name, int members, std::vector<std::vector<Listed>> rounds);

}  // namespace trnsim::fabric
