// Legality. An instruction's check() asks these questions; a "no" raises a ProgramError whose
// message names the instruction, the limit, the value given and the generation, and whose rule id
// tests can name.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "catalog/core.h"
#include "isa/operand.h"
#include "memory/memory.h"

namespace trnsim::isa {

// Which memories an operand may live in.
enum class Buffers : std::uint8_t { kSbuf = 1, kPsum = 2, kHbm = 4, kOnChip = 3, kSbufHbm = 5 };

// Which of the cores that run a launch together this one is.
struct Place {
  int rank = 0;
  int cores = 1;
};

class Rules {
 public:
  Rules(std::string_view instruction, const catalog::Core& core, const memory::Memory& memory,
        Place place = {})
      : instruction_(instruction), core_(core), memory_(memory), place_(place) {}

  const catalog::Core& core() const { return core_; }
  const memory::Memory& memory() const { return memory_; }
  const Place& place() const { return place_; }
  int generation() const { return core_.version(); }
  std::string_view instruction() const { return instruction_; }

  template <class... Args>
  [[noreturn]] void fail(std::string_view rule, fmt::format_string<Args...> text,
                         Args&&... args) const {
    raise(rule, fmt::format(text, std::forward<Args>(args)...));
  }

  // Legal, but a reason to warn the user.
  template <class... Args>
  void remark(fmt::format_string<Args...> text, Args&&... args) const {
    remarks_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  const std::vector<std::string>& remarks() const { return remarks_; }

  // Memory, dtype of the generation, at most 128 partitions and the start-partition rule.
  void operand(const char* name, const Tile& tile, Buffers buffers) const;
  void operand(const char* name, const ScalarOrTile& value, Buffers buffers) const;

  void same_partitions(const char* name_a, const Tile& a, const char* name_b, const Tile& b) const;
  void same_free_size(const char* name_a, const Tile& a, const char* name_b, const Tile& b) const;
  void same_dtype(const char* name_a, const Tile& a, const char* name_b, const Tile& b) const;
  void free_size_at_most(const char* name, const Tile& tile, std::int64_t limit,
                         const char* why) const;
  // A [P, 1] operand beside a tile of P partitions.
  void per_partition(const char* name, const ScalarOrTile& value, const Tile& tile) const;
  void not_both_psum(const char* name_a, const Tile& a, const char* name_b, const Tile& b) const;
  void integer_bits(const char* name, const Tile& tile) const;  // operand of a bitwise operation
  void generation_at_least(int version, const char* feature) const;

 private:
  [[noreturn]] void raise(std::string_view rule, std::string text) const;

  std::string_view instruction_;
  const catalog::Core& core_;
  const memory::Memory& memory_;
  Place place_;
  mutable std::vector<std::string> remarks_;
};

}  // namespace trnsim::isa
