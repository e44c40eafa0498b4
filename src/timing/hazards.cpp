#include "timing/hazards.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace trnsim::timing {
namespace {

using memory::AccessPattern;
using memory::Space;

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr std::size_t kListed = 24;  // accesses remembered exactly; older ones are summed up per queue

struct Touch {
  const AccessPattern* pattern;
  std::uint32_t instruction;
  Queue queue;
};

// Accesses of one kind to one bucket of a memory.
struct Touches {
  std::vector<Touch> listed;
  // The latest of those no longer listed, whatever bytes they touched: waiting for it is safe, at worst needless.
  std::array<std::uint32_t, kQueueCount> older = [] {
    std::array<std::uint32_t, kQueueCount> none{};
    none.fill(kNone);
    return none;
  }();

  void add(const Touch& touch) {
    for (Touch& seen : listed) {
      // A queue runs in order, so its latest access to the same bytes stands for the earlier ones.
      if (seen.queue == touch.queue && seen.pattern->offset == touch.pattern->offset && covers(*touch.pattern, *seen.pattern)) {
        seen = touch;
        return;
      }
    }
    if (listed.size() == kListed) {
      std::uint32_t& latest = older[static_cast<std::size_t>(listed.front().queue)];
      if (latest == kNone || latest < listed.front().instruction) latest = listed.front().instruction;
      listed.erase(listed.begin());
    }
    listed.push_back(touch);
  }

  void forget_covered_by(const AccessPattern& pattern) {
    std::erase_if(listed, [&](const Touch& touch) { return covers(pattern, *touch.pattern); });
  }
};

struct Bucket {
  Touches reads, writes;
};

struct Region {
  std::int64_t bucket_bytes;
  std::vector<Bucket> buckets;

  Region(std::int64_t bytes, std::int64_t per_bucket)
      : bucket_bytes(per_bucket), buckets(static_cast<std::size_t>(bytes / per_bucket + 1)) {}
};

class Tracker {
 public:
  explicit Tracker(const program::Program& program) : program_(program) {}

  void visit(const AccessPattern& pattern, bool writes, std::uint32_t instruction, Queue queue,
             std::vector<Dependency>& list, std::size_t first) {
    Region& region = region_of(pattern);
    const memory::Extent extent = memory::extent_of(pattern);
    const std::int64_t last = (extent.high - 1) / region.bucket_bytes;
    if (last >= static_cast<std::int64_t>(region.buckets.size())) region.buckets.resize(last + 1);
    for (std::int64_t b = extent.low / region.bucket_bytes; b <= last; ++b) {
      Bucket& bucket = region.buckets[b];
      collect(bucket.writes, pattern, writes ? Hazard::kOverwrite : Hazard::kRead, instruction, list, first);
      if (writes) collect(bucket.reads, pattern, Hazard::kReuse, instruction, list, first);
    }
    const Touch touch{&pattern, instruction, queue};
    for (std::int64_t b = extent.low / region.bucket_bytes; b <= last; ++b) {
      Bucket& bucket = region.buckets[b];
      if (writes) {
        bucket.reads.forget_covered_by(pattern);
        bucket.writes.forget_covered_by(pattern);
        bucket.writes.add(touch);
      } else {
        bucket.reads.add(touch);
      }
    }
  }

 private:
  Region& region_of(const AccessPattern& pattern) {
    constexpr std::int64_t kOnChipBucket = 2048;
    constexpr std::int64_t kHbmBuckets = 256;
    if (pattern.space == Space::kSbuf) return sbuf_;
    if (pattern.space == Space::kPsum) return psum_;
    const auto it = hbm_.find(pattern.tensor);
    if (it != hbm_.end()) return it->second;
    const std::int64_t bytes = program_.tensors().at(pattern.tensor).bytes;
    const std::int64_t bucket = std::max<std::int64_t>(kOnChipBucket, bytes / kHbmBuckets);
    return hbm_.emplace(pattern.tensor, Region(bytes, bucket)).first->second;
  }

  static void note(std::uint32_t on, Hazard hazard, std::uint32_t instruction, std::vector<Dependency>& list,
                   std::size_t first) {
    if (on == instruction) return;
    for (std::size_t i = first; i < list.size(); ++i) {
      if (list[i].on != on) continue;
      list[i].hazard = std::min(list[i].hazard, hazard);  // the hazards that wait longer come first
      return;
    }
    list.push_back({on, hazard});
  }

  static void collect(const Touches& touches, const AccessPattern& pattern, Hazard hazard, std::uint32_t instruction,
                      std::vector<Dependency>& list, std::size_t first) {
    for (const Touch& touch : touches.listed) {
      if (overlaps(*touch.pattern, pattern)) note(touch.instruction, hazard, instruction, list, first);
    }
    for (const std::uint32_t on : touches.older) {
      if (on != kNone) note(on, hazard, instruction, list, first);
    }
  }

  const program::Program& program_;
  Region sbuf_{256 * 1024, 2048};
  Region psum_{16 * 1024, 2048};
  std::unordered_map<std::uint32_t, Region> hbm_;  // looked up only, never iterated
};

}  // namespace

Dependencies::Dependencies(const program::Program& program) {
  Tracker tracker(program);
  first_.reserve(program.size() + 1);
  queues_.reserve(program.size());
  for (std::size_t i = 0; i < program.size(); ++i) {
    const program::Instruction& instruction = program[i];
    const Queue queue = queue_of(program, instruction);
    queues_.push_back(queue);
    first_.push_back(list_.size());
    const std::size_t first = list_.size();
    const auto visit = [&](bool writes) {
      isa::for_each_tile(program.type(instruction), program.args(instruction),
                         [&](const isa::FieldInfo& field, const isa::Tile& tile) {
                           const bool written = field.access == isa::Access::kWrite;
                           const bool both = field.access == isa::Access::kReadWrite;
                           if (writes ? written || both : field.access == isa::Access::kRead) {
                             tracker.visit(tile, writes, static_cast<std::uint32_t>(i), queue, list_, first);
                           }
                         });
    };
    visit(false);
    visit(true);
  }
  first_.push_back(list_.size());
}

}  // namespace trnsim::timing
