// How transfers share what they cross: weighted max-min fairness in integers. Every transfer gets
// the same rate until a resource is full; its transfers keep that rate, the others grow on. A
// transfer that touches a resource several times per byte (a reduction reads memory twice) counts
// that many times.
//
// Rates are whole bytes per second, rounded down, and time is whole picoseconds, rounded up, so
// that the outcome depends on no order of evaluation: resources that fill at the same rate are
// frozen together.
#pragma once

#include <cstdint>
#include <vector>

namespace trnsim::fabric {

struct Use {
  int resource;
  int weight;
};

class FairShares {
 public:
  // `capacity` in bytes per second; at least 1.
  int add_resource(std::int64_t capacity);
  std::int64_t capacity(int resource) const {
    return resources_[static_cast<std::size_t>(resource)].capacity;
  }

  // A transfer of `bytes` over `uses`, which may be none: then it takes no time. Returns its
  // number, which is free again once it has ended.
  int start(std::int64_t bytes, const std::vector<Use>& uses);

  // Lets all run until `now`; the transfers that have ended by then are appended to `ended`, in the
  // order in which they started.
  void advance(std::int64_t now, std::vector<int>* ended);

  // When the next one ends at the present rates; -1 when none runs.
  std::int64_t next_end();

 private:
  // A transfer of b bytes at r bytes per second: b * 10^12 units of byte-picoseconds per second.
  struct Transfer {
    __int128 left = 0;
    std::int64_t rate = 0;
    std::uint64_t order = 0;
    std::vector<Use> uses;
    bool runs = false;
  };
  struct Resource {
    std::int64_t capacity = 0;
    std::int64_t left = 0;
    std::int64_t weight = 0;   // of transfers not frozen yet
    std::vector<int> members;  // transfers that use it
    bool seen = false;
  };

  void share();

  std::vector<Resource> resources_;
  std::vector<Transfer> transfers_;
  std::vector<int> running_, free_;
  std::int64_t now_ = 0;
  std::uint64_t started_ = 0;
  bool stale_ = false;
};

}  // namespace trnsim::fabric
