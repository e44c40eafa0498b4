// Two cores that use the same bytes of shared HBM, at least one of them writing, without having met
// in between: what the bytes are then depends on who is faster. A meeting puts everything before it
// in order with everything after it.
//
// Cores that write the same values to the same bytes do no harm, as programs do that leave a part
// of their work undivided; so values are compared where the cores meet next. Of rows chosen by an
// index those count that it names. A run without values leaves out such rows, and two writes of
// the same bytes.
//
// Between two meetings the cores run one after the other: those of lower rank have done all their
// accesses when another begins.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/neuron_core.h"

namespace trnsim::core {

class Races {
 public:
  explicit Races(const std::vector<std::unique_ptr<NeuronCore>>& cores) : cores_(cores) {}

  // Core `rank` is about to carry out this instruction, as the next of its program.
  void check(int rank, const isa::InstructionType& type, const void* args, std::uint32_t site);
  // It has done so.
  void record(int rank, const isa::InstructionType& type, const void* args);

  // All cores have met, or all have ended. Throws where two wrote different values.
  void synchronise();

 private:
  // An access since the last meeting: an operand of an instruction, by its place in the arguments,
  // or one row of it.
  struct Access {
    std::uint32_t instruction;
    std::uint32_t operand;
    std::int32_t row = -1;  // -1: all of it
  };
  struct ByCore {
    std::vector<Access> reads, writes;  // reads of what the core has not written itself
    memory::WrittenMap written{1, 0};
    memory::WrittenMap read{1, 0};  // of `reads` up to `mapped`: made when a writer first asks
    std::size_t mapped = 0;
    std::vector<std::byte> before;  // the tensor when this core first wrote over another's bytes
  };
  using Shared = std::vector<ByCore>;
  struct Use {
    int rank;
    std::uint32_t site;
    std::string_view opcode;
    std::size_t instruction;
    bool writes;
  };

  // Calls fn(field, operand, tile, row) for each operand in shared HBM, or for each row of it that
  // an index names.
  template <class Fn>
  void for_each_shared(int rank, const isa::InstructionType& type, const void* args, Fn&& fn) const;
  Shared& shared(const isa::Tile& tile);
  void check_read(const Use& use, Shared& tensor, const isa::Tile& tile) const;
  void check_write(const Use& use, Shared& tensor, const isa::Tile& tile) const;
  void map_reads(int rank, ByCore& by) const;
  void compare(Shared& tensor) const;
  isa::Tile tile_of(int rank, const Access& access) const;
  Use use_of(int rank, const Access& access, bool writes) const;
  // The first of these accesses that touches the byte.
  Use touching(int rank, const std::vector<Access>& accesses, const isa::Tile& tensor,
               std::int64_t byte, bool writes) const;
  [[noreturn]] void report(const Use& first, const Use& second, const isa::Tile& tile,
                           std::int64_t byte) const;
  std::string described(const Use& use) const;

  const std::vector<std::unique_ptr<NeuronCore>>& cores_;
  std::map<std::uint32_t, Shared> tensors_;  // by id
};

}  // namespace trnsim::core
