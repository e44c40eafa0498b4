#include "timing/hazards.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace trnsim::timing {
namespace {

class Memories {
 public:
  AccessHistory& history(const memory::AccessPattern& pattern) {
    if (pattern.space == memory::Space::kSbuf) return sbuf_;
    if (pattern.space == memory::Space::kPsum) return psum_;
    return hbm_[pattern.tensor];
  }

 private:
  AccessHistory sbuf_, psum_;
  std::unordered_map<std::uint32_t, AccessHistory> hbm_;  // looked up only, never iterated
};

bool touches(const isa::FieldInfo& field, bool writing) {
  if (field.access == isa::Access::kOrder) return writing;
  return writing ? isa::writes(field.access) : isa::reads(field.access);
}

}  // namespace

Dependencies::Dependencies(const program::Program& program, KeptOrders* kept,
                           std::vector<Queue> queues)
    : queues_(std::move(queues)) {
  Memories memories;
  const bool given = !queues_.empty();
  first_.reserve(program.size() + 1);
  queues_.reserve(program.size());
  list_.reserve(program.size() * 2);
  for (std::size_t i = 0; i < program.size(); ++i) {
    const program::Instruction& instruction = program[i];
    if (!given) queues_.push_back(queue_of(program, instruction));
    const Queue queue = queues_[i];
    first_.push_back(list_.size());
    const std::size_t first = list_.size();
    for (const bool writing : {false, true}) {
      program.for_each_touched(
          instruction, [&](const isa::FieldInfo& field, const isa::Tile& tile) {
            if (!touches(field, writing)) return;
            memories.history(tile).visit({&tile, static_cast<std::uint32_t>(i), queue}, writing,
                                         list_, first, kept);
          });
    }
    // An order that the kernel asks for is kept as if a value were handed over.
    for (const std::uint32_t producer : program.producers(static_cast<std::uint32_t>(i)))
      list_.push_back({producer, Hazard::kRead});
  }
  first_.push_back(list_.size());
}

void Dependencies::leave_out(std::span<const std::uint32_t> stand_ins) {
  std::vector<Dependency> list;
  std::vector<std::uint64_t> first;
  list.reserve(list_.size());
  first.reserve(first_.size());
  const auto add = [&](Dependency dependency) {
    for (std::size_t k = first.back(); k < list.size(); ++k) {
      if (list[k].on != dependency.on) continue;
      list[k].hazard = std::min(list[k].hazard, dependency.hazard);
      return;
    }
    list.push_back(dependency);
  };
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    first.push_back(list.size());
    for (const Dependency& dependency : of(i)) {
      const std::uint32_t other = stand_ins[dependency.on];
      if (other == ~std::uint32_t{0}) {
        add(dependency);
      } else if (dependency.hazard == Hazard::kRead) {
        add({other, Hazard::kRead});
      } else {
        // What came before it is in the new list already.
        for (std::uint64_t k = first[dependency.on]; k < first[dependency.on + 1]; ++k) {
          const Dependency before = list[k];
          if (before.hazard != Hazard::kRead) add(before);
        }
      }
    }
  }
  first.push_back(list.size());
  list_ = std::move(list);
  first_ = std::move(first);
}

}  // namespace trnsim::timing
