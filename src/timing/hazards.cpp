#include "timing/hazards.h"

#include <unordered_map>

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

Dependencies::Dependencies(const program::Program& program, KeptOrders* kept) {
  Memories memories;
  first_.reserve(program.size() + 1);
  queues_.reserve(program.size());
  list_.reserve(program.size() * 2);
  for (std::size_t i = 0; i < program.size(); ++i) {
    const program::Instruction& instruction = program[i];
    const Queue queue = queue_of(program, instruction);
    queues_.push_back(queue);
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

}  // namespace trnsim::timing
