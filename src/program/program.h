// The dynamic instruction stream of one NeuronCore: what the front ends and the compiler produce,
// `core` executes and `timing` clocks. Plain data: an opcode, its argument struct byte for byte,
// and the source line it came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/instruction.h"

namespace trnsim::program {

// A line of the user's code.
struct Site {
  std::string file;
  int line = 0;
  std::string function;
  auto operator<=>(const Site&) const = default;
};

// "matmul.py:42", the file without its folders; empty without a line.
std::string place(const Site& site);

struct Instruction {
  std::uint16_t opcode;
  isa::Engine engine;
  std::uint32_t site;  // index into sites()
  std::uint64_t args;  // where the argument struct starts
};

// A tensor's life, counted in instructions, for the memory map.
struct TensorLife {
  std::string name;
  memory::Space space;
  int partitions;
  std::int64_t offset;
  std::int64_t bytes;   // per partition (on chip), in all (HBM)
  std::uint64_t born;   // instructions recorded when it was created
  std::uint64_t freed;  // when it was released; the program's length if it lived to the end
};

// Whose compiler builds the kernel: they differ in what they make of a program.
enum class Dialect : std::uint8_t { kNki, kBeta1 };

// An instruction to be put into a program.
struct Insertion {
  std::uint64_t before;  // the instruction that it goes before
  const isa::InstructionType* type;
  isa::Engine engine;
  std::uint32_t site;
  std::vector<std::byte> args;
  std::string name;
};

// Instructions [first, last).
struct Stretch {
  std::uint64_t first, last;
  auto operator<=>(const Stretch&) const = default;
};

// One round of a loop whose body the compiler sees once: instructions [first, last).
struct Round {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  Stretch instructions;
  std::uint32_t before;  // the number of the loop's round before this one; kNone for its first
  auto operator<=>(const Round&) const = default;
};

class Program {
 public:
  Dialect dialect = Dialect::kNki;

  std::uint32_t intern(const Site& site);
  void append(const isa::InstructionType& type, isa::Engine engine, std::uint32_t site,
              const void* args);
  // Another generation may run an instruction on another engine.
  void set_engine(std::size_t i, isa::Engine engine) { instructions_[i].engine = engine; }
  // Puts another instruction in the place of one, which keeps its line and name.
  void replace(std::size_t i, const isa::InstructionType& type, isa::Engine engine,
               const void* args);
  // The first `most` instructions, with all that they refer to but the tensors' lives.
  Program first(std::size_t most) const;
  // The program with more instructions, sorted by where they go, and without those that are to be
  // left out (a flag for each instruction), which must have neither names nor orders.
  Program with(std::span<const Insertion> insertions, const std::vector<bool>& left_out) const;
  // Gives the latest instruction a name of the user's choice.
  void name_last(std::string name) { give_name(size() - 1, std::move(name)); }
  void give_name(std::size_t i, std::string name) { names_[i] = std::move(name); }

  // Records that `consumer` has to wait until `producer`, an earlier one, has ended, whatever bytes
  // the two touch.
  void depend(std::uint32_t consumer, std::uint32_t producer);
  // What was recorded for an instruction, in the order of recording; empty for most.
  std::span<const std::uint32_t> producers(std::uint32_t consumer) const;
  const std::map<std::uint32_t, std::vector<std::uint32_t>>& orders() const { return producers_; }

  // The kernel asks that the instructions of a stretch stay in order. Stretches do not overlap and
  // are recorded in order.
  void keep_in_order(Stretch stretch);
  const std::vector<Stretch>& in_order() const { return in_order_; }

  // Records that a round of a loop has ended, after all rounds of loops within it. Returns its
  // number.
  std::uint32_t add_round(const Round& round);
  const std::vector<Round>& rounds() const { return rounds_; }

  std::size_t size() const { return instructions_.size(); }
  const Instruction& operator[](std::size_t i) const { return instructions_[i]; }
  const void* args(const Instruction& instruction) const {
    return arguments_.data() + instruction.args;
  }
  const isa::InstructionType& type(const Instruction& i) const {
    return isa::instruction_table()[i.opcode];
  }
  const std::vector<Site>& sites() const { return sites_; }
  // As place(Site), for an index into sites().
  std::string place(std::uint32_t site) const;
  const std::string* name(std::size_t i) const;

  void define(std::uint16_t id, const memory::Indirection& indirection);
  // Calls fn(field, tile) for all that an instruction touches: its tiles, and in the place of an
  // indirect one everything that its columns may be among, and the index.
  template <class Fn>
  void for_each_touched(const Instruction& instruction, Fn&& fn) const {
    static constexpr isa::FieldInfo kIndex{"index", isa::FieldKind::kTile, isa::Access::kRead, true,
                                           0};
    isa::for_each_tile(type(instruction), args(instruction),
                       [&](const isa::FieldInfo& field, const isa::Tile& tile) {
                         if (tile.indirection == 0) return fn(field, tile);
                         const memory::Indirection& what = indirections_[tile.indirection];
                         fn(field, what.extent);
                         fn(kIndex, what.index);
                       });
  }

  // By id, as for define(); those that were never defined have no dimensions.
  const std::vector<memory::Indirection>& indirections() const { return indirections_; }

  void tensor_born(const memory::Allocation& allocation);
  void tensor_freed(std::uint32_t id);
  void tensor_lived(std::uint32_t id, TensorLife life) { tensors_.emplace(id, std::move(life)); }
  const std::map<std::uint32_t, TensorLife>& tensors() const { return tensors_; }
  // Where a tile of tensors() lay when instruction i was recorded: it may have moved since.
  std::int64_t offset_at(std::uint32_t tensor, std::size_t i) const;

 private:
  std::vector<Instruction> instructions_;
  std::vector<std::byte> arguments_;
  struct LastArgs {
    std::uint16_t opcode;
    std::uint64_t at;
  };
  static constexpr std::uint16_t kNoOpcode = 0xffff;
  std::vector<LastArgs> last_args_;  // by site
  std::vector<Site> sites_;
  std::map<Site, std::uint32_t> site_index_;
  std::map<std::size_t, std::string> names_;
  std::vector<memory::Indirection> indirections_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> producers_;
  std::vector<Stretch> in_order_;
  std::vector<Round> rounds_;
  std::map<std::uint32_t, TensorLife> tensors_;
  struct Move {
    std::uint64_t at;  // instructions recorded before
    std::int64_t from;
  };
  std::map<std::uint32_t, std::vector<Move>> moves_;  // by tensor; in the order of time
};

}  // namespace trnsim::program
