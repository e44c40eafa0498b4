// Who touched the bytes of one memory last: SBUF, PSUM or one HBM tensor. The bytes are cut into
// stretches, and every stretch lists the accesses that still matter to later ones. Dense accesses
// cut at their ends; strided ones, of which many interleave, are listed in coarser stretches.
// Exact to the byte, also for strides and partitions; only where very many different strided
// accesses share a stretch are the oldest summed up per queue, and waiting for those is safe, at
// worst needless.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "memory/access_pattern.h"
#include "timing/queue.h"

namespace trnsim::timing {

enum class Hazard : std::uint8_t {
  kRead,       // reads what the other wrote
  kOverwrite,  // writes where the other wrote
  kReuse,      // writes where the other still reads
};

// Pairs (before, after) on one queue that no dependency tells apart, because the queue runs in
// order: whoever changes its order has to keep these.
using KeptOrders = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct Dependency {
  std::uint32_t on;  // index of the earlier instruction
  Hazard hazard;
};

class AccessHistory {
 public:
  struct Access {
    const memory::AccessPattern* pattern;  // must outlive the history
    std::uint32_t instruction;
    Queue queue;
    bool dense = false;  // every byte of its extent, in each of its partitions
    memory::Extent extent{};
  };

  // Appends to `list` from `first` on what the access depends on (each instruction once), then
  // remembers the access. Appends to `kept`, where there is one, what the history relies on.
  void visit(Access access, bool writes, std::vector<Dependency>& list, std::size_t first,
             KeptOrders* kept);

 private:
  struct Accesses {
    std::vector<Access> listed;
    std::array<std::uint32_t, kQueueCount>
        older;               // the latest of each queue that is no longer listed
    bool summed_up = false;  // whether there are any of those
    Accesses() { older.fill(kNone); }
    void collect(const Access& access, Hazard hazard, std::vector<Dependency>& list,
                 std::size_t first) const;
    void add(const Access& access, KeptOrders* kept);
    void forget_overwritten(const Access& writer);
  };
  struct Stretch {
    Accesses reads, writes;
  };
  using Stretches = std::map<std::int64_t, Stretch>;  // by first byte; each reaches to the next

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  Stretches::iterator cut(std::int64_t at);
  void merge(Stretches::iterator first, Stretches::iterator last);

  Stretches stretches_;
};

}  // namespace trnsim::timing
