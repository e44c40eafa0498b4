#include "timing/liberties.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "program/arguments.h"

namespace trnsim::timing {
namespace {

// Loads and what engines make of their operands alone: nothing random, no registers, no state that
// lives on from one instruction to the next.
constexpr std::array<std::string_view, 15> kRepeatable{"activation",
                                                       "affine_select",
                                                       "dma_copy",
                                                       "iota",
                                                       "memset",
                                                       "nc_matmul",
                                                       "nc_stream_shuffle",
                                                       "nc_transpose",
                                                       "reciprocal",
                                                       "range_select",
                                                       "scalar_tensor_tensor",
                                                       "tensor_copy",
                                                       "tensor_reduce",
                                                       "tensor_scalar",
                                                       "tensor_tensor"};

template <std::size_t N>
std::vector<bool> by_opcode(const std::array<std::string_view, N>& names) {
  std::vector<bool> listed;
  for (const isa::InstructionType& type : isa::instruction_table())
    listed.push_back(std::find(names.begin(), names.end(), type.info.name) != names.end());
  return listed;
}

// Bytes of each partition of SBUF that no tensor of the kernel ever needs.
std::int64_t never_used(const program::Program& program, const catalog::Core& core) {
  std::map<std::uint64_t, std::int64_t> changes;
  for (const auto& [id, life] : program.tensors()) {
    if (life.space != memory::Space::kSbuf) continue;
    changes[life.born] += life.bytes;
    changes[life.freed] -= life.bytes;
  }
  std::int64_t now = 0, most = 0;
  for (const auto& [when, change] : changes) most = std::max(most, now += change);
  return static_cast<std::int64_t>(core.sbuf.usable_bytes_per_partition) - most;
}

class Search {
 public:
  Search(const program::Program& program, const Dependencies& dependencies,
         const catalog::Core& core)
      : program_(program),
        dependencies_(dependencies),
        repeatable_(by_opcode(kRepeatable)),
        room_(never_used(program, core)),
        made_(program.size()),
        found_(program.size(), kKept),
        gone_(program.size(), false) {
    round_before_.assign(program.size(), program::Round::kNone);
    std::vector<bool> known(program.size(), false);
    for (const program::Round& round : program.rounds()) {
      for (std::uint64_t i = round.instructions.first; i < round.instructions.last; ++i) {
        if (known[i]) continue;
        known[i] = true;
        round_before_[i] = round.before;
      }
    }
  }

  std::vector<std::uint32_t> run() {
    for (std::uint32_t i = 0; i < program_.size(); ++i) {
      made_[i] = i;
      const bool eligible = can_be_left_out(i);
      overwrite(i);
      if (!eligible) continue;
      const auto [it, first] = latest_.try_emplace(made_of(i), i);
      if (first) continue;
      const std::uint32_t again = it->second;
      it->second = i;
      made_[i] = made_[again];
      if (repeats_the_round_before(i, again))
        found_[i] = found_[again] == kKept ? again : found_[again];
      if (found_[i] != kKept && gone_[found_[i]] && !finds_room(found_[i], i)) found_[i] = kKept;
    }
    return std::move(found_);
  }

 private:
  // A result that lives on although the kernel has written over it.
  struct Guest {
    std::uint32_t result, last_use;
    std::int64_t bytes;
  };

  template <class Fn>
  void for_each_tile(std::uint32_t i, Fn&& fn) const {
    isa::for_each_tile(program_.type(program_[i]), program_.args(program_[i]), fn);
  }

  bool repeats_the_round_before(std::uint32_t i, std::uint32_t again) const {
    const std::uint32_t before = round_before_[i];
    return before != program::Round::kNone && again >= program_.rounds()[before].instructions.first;
  }

  bool finds_room(std::uint32_t result, std::uint32_t i) {
    const std::uint64_t since = program_.rounds()[round_before_[i]].instructions.first;
    std::int64_t taken = 0;
    std::erase_if(guests_, [&](const Guest& guest) { return guest.last_use < since; });
    for (Guest& guest : guests_) {
      taken += guest.bytes;
      if (guest.result != result) continue;
      guest.last_use = i;
      return true;
    }
    const isa::Tile& tile = written_by(result);
    const std::int64_t bytes = tile.free_elements() * tile.element_bytes();
    if (tile.space != memory::Space::kSbuf || taken + bytes > room_) return false;
    guests_.push_back({result, i, bytes});
    return true;
  }

  bool can_be_left_out(std::uint32_t i) const {
    if (!repeatable_[program_[i].opcode]) return false;
    bool fine = program_.producers(i).empty();
    for_each_tile(i, [&](const isa::FieldInfo& field, const isa::Tile& tile) {
      if (tile.indirection != 0) fine = false;
      if (!isa::writes(field.access)) return;
      // A result in HBM is the kernel's; one that adds to an earlier product is not made again.
      if (field.access != isa::Access::kWrite || !tile.on_chip() || adds_up(i, tile)) fine = false;
    });
    return fine;
  }

  // Whether a matmul follows another one into the same tensor.
  bool adds_up(std::uint32_t i, const isa::Tile& dst) const {
    if (program_[i].engine != isa::Engine::kTensor) return false;
    const auto before = dependencies_.of(i);
    return std::any_of(before.begin(), before.end(), [&](const Dependency& dependency) {
      return program_[dependency.on].engine == isa::Engine::kTensor &&
             written_by(dependency.on).tensor == dst.tensor;
    });
  }

  const isa::Tile& written_by(std::uint32_t i) const {
    static const isa::Tile kNothing{};
    const isa::Tile* written = &kNothing;
    for_each_tile(i, [&](const isa::FieldInfo& field, const isa::Tile& tile) {
      if (isa::writes(field.access) && written == &kNothing) written = &tile;
    });
    return *written;
  }

  // Calls fn(instruction, result) for the results that `tile` of instruction i has bytes of.
  template <class Fn>
  void for_each_result(std::uint32_t i, const isa::Tile& tile, Fn&& fn) const {
    for (const Dependency& dependency : dependencies_.of(i)) {
      for_each_tile(dependency.on, [&](const isa::FieldInfo& field, const isa::Tile& result) {
        if (!isa::writes(field.access) || result.space != tile.space) return;
        if (!tile.on_chip() && result.tensor != tile.tensor) return;
        if (memory::overlaps(tile, result)) fn(dependency.on, result);
      });
    }
  }

  // Whose results are no longer there once `i` has written its own.
  void overwrite(std::uint32_t i) {
    for_each_tile(i, [&](const isa::FieldInfo& field, const isa::Tile& tile) {
      if (!isa::writes(field.access)) return;
      for_each_result(i, tile, [&](std::uint32_t on, const isa::Tile&) { gone_[on] = true; });
    });
  }

  // What it does to what: instructions with the same text make the same.
  std::string made_of(std::uint32_t i) const {
    const program::Instruction& instruction = program_[i];
    const isa::InstructionType& type = program_.type(instruction);
    const auto* args = static_cast<const std::byte*>(program_.args(instruction));
    std::vector<std::byte> plain(args, args + type.size());
    program::ByteWriter out;
    out.number(instruction.opcode);
    out.number(static_cast<std::uint64_t>(instruction.engine));
    for_each_tile(i, [&](const isa::FieldInfo& field, const isa::Tile& tile) {
      const isa::Tile none{};
      std::memcpy(plain.data() + (reinterpret_cast<const std::byte*>(&tile) - args), &none,
                  sizeof none);
      add_pattern(out, tile);
      if (isa::reads(field.access)) add_content(out, i, tile);
    });
    for (const isa::FieldInfo& field : type.fields)
      program::write_field(out, field, plain.data() + field.offset);
    return out.take();
  }

  static void add_pattern(program::ByteWriter& out, const isa::Tile& tile) {
    out.number(static_cast<std::uint64_t>(tile.space));
    out.number(static_cast<std::uint64_t>(tile.dtype));
    out.number(static_cast<std::uint64_t>(tile.dims));
    for (int d = 0; d < tile.dims; ++d) {
      out.integer(tile.sizes[d]);
      // The stride of partitions means nothing.
      if (d > 0 || !tile.on_chip()) out.integer(tile.strides[d]);
    }
  }

  // Which bytes of whose results; where nobody wrote them, which bytes of the memory.
  void add_content(program::ByteWriter& out, std::uint32_t i, const isa::Tile& tile) const {
    bool written = false;
    for_each_result(i, tile, [&](std::uint32_t on, const isa::Tile& result) {
      written = true;
      out.number(std::uint64_t{made_[on]} + 1);
      out.integer(tile.offset - result.offset);
      out.integer(tile.start_partition - result.start_partition);
    });
    out.number(0);  // the end of the list
    if (written && tile.on_chip()) return;
    out.number(tile.on_chip() ? 0 : tile.tensor);
    out.integer(tile.offset);
    out.number(tile.start_partition);
  }

  const program::Program& program_;
  const Dependencies& dependencies_;
  std::vector<bool> repeatable_;  // by opcode
  std::int64_t room_;
  std::vector<std::uint32_t> round_before_;
  std::vector<std::uint32_t> made_;  // the first instruction that made the same
  std::vector<std::uint32_t> found_;
  std::vector<bool> gone_;  // results of which a byte has been written over
  std::vector<Guest> guests_;
  std::unordered_map<std::string, std::uint32_t> latest_;  // looked up only, never iterated
};

// ---- which engine

// What the Scalar Engine's multiply-add or its functions do too, one element a cycle.
constexpr std::array<std::string_view, 3> kEither{"reciprocal", "tensor_copy", "tensor_scalar"};

bool is_open(const isa::InstructionType& type, const void* args) {
  const auto* base = static_cast<const std::byte*>(args);
  bool open = true;
  for (const isa::FieldInfo& field : type.fields) {
    const auto code = static_cast<std::uint8_t>(base[field.offset]);
    if (field.kind == isa::FieldKind::kEngine)
      open = open && static_cast<isa::Engine>(code) == isa::Engine::kUnknown;
    if (field.kind != isa::FieldKind::kAluOp) continue;
    const auto op = static_cast<numerics::AluOp>(code);
    open = open && (op == numerics::AluOp::kMultiply || op == numerics::AluOp::kAdd ||
                    op == numerics::AluOp::kSubtract || op == numerics::AluOp::kBypass);
  }
  isa::for_each_tile(type, args, [&](const isa::FieldInfo&, const isa::Tile& tile) {
    open = open && tile.indirection == 0 && numerics::info(tile.dtype).is_float;
  });
  return open;
}

}  // namespace

std::vector<std::uint32_t> stand_ins(const program::Program& program,
                                     const Dependencies& dependencies, const catalog::Core& core) {
  return Search(program, dependencies, core).run();
}

isa::Cost cost_on(const program::Program& program, std::size_t i, Queue queue,
                  const isa::CostModel& model) {
  const program::Instruction& instruction = program[i];
  const isa::InstructionType& type = program.type(instruction);
  const void* args = program.args(instruction);
  const isa::Cost cost = type.cost(args, model);
  if (queue != Queue::kScalar || instruction.engine == isa::Engine::kScalar) return cost;
  double elements = 0, slow = 1;
  isa::for_each_tile(type, args, [&](const isa::FieldInfo&, const isa::Tile& tile) {
    elements = std::max(elements, static_cast<double>(tile.free_elements()));
    slow = std::max(slow, model.stride_slowdown(tile));
  });
  const catalog::ScalarEngine& scalar = model.core().scalar;
  isa::Cost moved =
      model.scalar(elements * slow * scalar.cycles_per_element, scalar.activation_drain);
  moved.flops = cost.flops;
  return moved;
}

std::vector<Queue> shared_out(const program::Program& program, const catalog::Core& core) {
  const isa::CostModel model(core);
  const std::vector<bool> either = by_opcode(kEither);
  std::vector<Queue> queues;
  queues.reserve(program.size());
  Picoseconds vector, scalar;  // what each has to do so far
  for (std::size_t i = 0; i < program.size(); ++i) {
    const program::Instruction& instruction = program[i];
    Queue queue = queue_of(program, instruction);
    if (queue == Queue::kVector || queue == Queue::kScalar) {
      Picoseconds here = cost_on(program, i, queue, model).occupancy;
      if (queue == Queue::kVector && either[instruction.opcode] &&
          is_open(program.type(instruction), program.args(instruction))) {
        const Picoseconds there = cost_on(program, i, Queue::kScalar, model).occupancy;
        if (scalar + there < vector + here) {
          queue = Queue::kScalar;
          here = there;
        }
      }
      (queue == Queue::kVector ? vector : scalar) += here;
    }
    queues.push_back(queue);
  }
  return queues;
}

}  // namespace trnsim::timing
