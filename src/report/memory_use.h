// How much of SBUF and PSUM tensors occupy, in bytes per partition: a byte counts once, however
// many tensors lie there and whichever partitions they use, as the allocator counts.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "report/run.h"

namespace trnsim::report {

// Occupied bytes of one partition while tensors come and go.
class Coverage {
 public:
  void add(std::int64_t offset, std::int64_t bytes) { change(offset, bytes, +1); }
  void remove(std::int64_t offset, std::int64_t bytes) { change(offset, bytes, -1); }
  std::int64_t bytes() const { return covered_; }

 private:
  void change(std::int64_t offset, std::int64_t bytes, int by);
  void split(std::int64_t at);

  std::map<std::int64_t, int> tensors_from_;  // from this byte to the next key: how many tensors
  std::int64_t covered_ = 0;
};

// The most in use at any point of the program, by the lives of its tensors.
std::int64_t peak_use(const program::Program& program, memory::Space space);

// The longest stretch of bytes, within the capacity of a partition, where no tensor ever lies.
std::int64_t largest_gap(const program::Program& program, memory::Space space,
                         std::int64_t capacity);

// From the first instruction that touches a tensor to the end of the last one, by its id.
std::map<std::uint32_t, TimeSpan> lifetimes(const Run& run);

struct Use {
  Picoseconds at;
  std::int64_t bytes;
};

// Over time: a tensor occupies its place from the first instruction that touches it to the end of
// the last one.
std::vector<Use> use_over_time(const Run& run, memory::Space space);

}  // namespace trnsim::report
