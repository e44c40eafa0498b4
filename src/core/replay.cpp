#include "core/replay.h"

#include <limits>
#include <map>
#include <memory>

#include "base/error.h"
#include "core/neuron_core.h"

namespace trnsim::core {
namespace {

using memory::Allocation;
using memory::Memory;
using memory::Space;

isa::Tile all_bytes(const Allocation& tensor, std::int64_t offset, std::int64_t bytes) {
  isa::Tile tile;
  tile.space = tensor.space;
  tile.dtype = numerics::Dtype::kUint8;
  tile.tensor = tensor.id;
  tile.offset = offset;
  tile.dims = 2;
  tile.sizes = {tensor.partitions, static_cast<std::int32_t>(bytes)};
  tile.strides = {bytes, 1};
  return tile;
}

// What the kernel read had been written: that was checked when it was recorded.
void mark_all_written(Memory& memory, const Allocation& tensor) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (std::int64_t at = 0; at < tensor.bytes; at += kMost)
    memory.mark_written(all_bytes(tensor, at, std::min(kMost, tensor.bytes - at)));
}

// The HBM tensors of a launch, by the numbers that they were recorded under. Those that several
// cores know are shared.
using HbmTensors = std::map<std::uint32_t, std::shared_ptr<Allocation>>;

// One core, on which every on-chip tile lies in a tensor that is the whole memory: where tiles are
// was settled when the program was recorded.
class Rehearsal {
 public:
  Rehearsal(const catalog::Chip& chip, isa::Place place,
            std::shared_ptr<memory::AddressSpace> space)
      : core_(chip.core, {.values = false}, place, std::move(space)),
        sbuf_(whole(Space::kSbuf, core_.memory().geometry().sbuf_bytes)),
        psum_(whole(Space::kPsum, core_.memory().geometry().psum_bytes)) {}

  Memory& memory() { return core_.memory(); }

  void require_room(const program::Program& program) {
    for (const auto& [id, life] : program.tensors()) {
      if (life.space == Space::kHbm) continue;
      const std::int64_t room = whole_of(life.space).bytes;
      if (life.offset + life.bytes <= room) continue;
      program_error("memory.capacity",
                    "tensor '{}' takes bytes {} to {} of its partitions in {}, which has {} there",
                    life.name, life.offset, life.offset + life.bytes - 1,
                    memory::space_name(life.space), room);
    }
  }

  // Throws as NeuronCore::issue does.
  void issue(const program::Program& program, const program::Instruction& instruction,
             const HbmTensors& hbm) {
    const isa::InstructionType& type = program.type(instruction);
    const auto* bytes = static_cast<const std::byte*>(program.args(instruction));
    args_.assign(bytes, bytes + type.size());
    isa::for_each_tile(type, args_.data(), [&](const isa::FieldInfo& field, const isa::Tile& t) {
      auto& tile = const_cast<isa::Tile&>(t);  // of args_
      if (tile.indirection != 0) {
        memory::Indirection what = program.indirections()[tile.indirection];
        rehome(what.extent, hbm, field.name);
        rehome(what.index, hbm, field.name);
        tile.indirection = memory().intern(what);
        tile.tensor = what.extent.tensor;
      } else {
        rehome(tile, hbm, field.name);
      }
    });
    core_.issue(type, args_.data(), 0);
  }

 private:
  std::shared_ptr<Allocation> whole(Space space, std::int64_t bytes) {
    auto tensor =
        memory().allocate_at(space, memory::space_name(space), memory().geometry().partitions,
                             bytes, 0, 0, memory::Overlap::kShared);
    mark_all_written(memory(), *tensor);
    return tensor;
  }
  const Allocation& whole_of(Space space) const { return space == Space::kSbuf ? *sbuf_ : *psum_; }

  // Lets a tile belong to this core's tensors.
  void rehome(isa::Tile& tile, const HbmTensors& hbm, std::string_view operand) const {
    const Allocation* tensor = nullptr;
    if (tile.on_chip()) {
      tensor = &whole_of(tile.space);
    } else if (const auto it = hbm.find(tile.tensor); it != hbm.end()) {
      tensor = it->second.get();
    }
    const memory::Extent extent = memory::extent_of(tile);
    if (!tensor || extent.low < 0 || extent.high > tensor->bytes) {
      program_error("memory.address", "{} reaches bytes {} to {} of {}, which has {}", operand,
                    extent.low, extent.high - 1, tensor ? tensor->name : "a tensor",
                    tensor ? tensor->bytes : 0);
    }
    tile.tensor = tensor->id;
  }

  NeuronCore core_;
  std::shared_ptr<Allocation> sbuf_, psum_;
  std::vector<std::byte> args_;
};

HbmTensors hbm_tensors(const std::vector<program::Program>& cores,
                       std::vector<std::unique_ptr<Rehearsal>>& rehearsals) {
  std::map<std::uint32_t, int> known_to;
  for (const program::Program& core : cores) {
    for (const auto& [id, life] : core.tensors()) known_to[id] += life.space == Space::kHbm;
  }
  HbmTensors tensors;
  for (std::size_t rank = 0; rank < cores.size(); ++rank) {
    Memory& memory = rehearsals[rank]->memory();
    for (const auto& [id, life] : cores[rank].tensors()) {
      if (life.space != Space::kHbm || tensors.contains(id)) continue;
      auto tensor = memory.allocate_hbm(life.name, life.bytes, known_to[id] > 1);
      mark_all_written(memory, *tensor);
      tensors.emplace(id, std::move(tensor));
    }
  }
  return tensors;
}

[[noreturn]] void refuse(std::string_view kernel, const catalog::Chip& chip, const Error& error,
                         std::string where = {}) {
  const std::string rule = error.rule().empty() ? "" : fmt::format(" (rule {})", error.rule());
  throw Error(error.fault(),
              fmt::format("kernel '{}' cannot run on {}: {}{}{}", kernel, chip.name, where,
                          error.message(), rule),
              error.rule());
}

std::string where(const program::Program& program, std::size_t i, std::size_t rank,
                  std::size_t cores) {
  const std::string core = cores > 1 ? fmt::format(" of core {}", rank) : "";
  const std::string place = program.place(program[i].site);
  return fmt::format("instruction {}{}, {}{}{}: ", i, core, program.type(program[i]).info.name,
                     place.empty() ? "" : " at ", place);
}

}  // namespace

std::vector<program::Program> replay(std::vector<program::Program> cores, std::string_view kernel,
                                     const catalog::Chip& chip) {
  const auto most = static_cast<std::size_t>(chip.logical_core_size);
  if (cores.size() > most) {
    refuse(kernel, chip,
           Error(Fault::kProgram,
                 fmt::format("it was recorded on {} cores of a logical one, which has {} there",
                             cores.size(), most),
                 "launch.lnc"));
  }
  const auto space = std::make_shared<memory::AddressSpace>();
  std::vector<std::unique_ptr<Rehearsal>> rehearsals;
  for (std::size_t rank = 0; rank < cores.size(); ++rank) {
    const isa::Place place{static_cast<int>(rank), static_cast<int>(cores.size())};
    rehearsals.push_back(std::make_unique<Rehearsal>(chip, place, space));
  }
  const HbmTensors hbm = hbm_tensors(cores, rehearsals);
  for (std::size_t rank = 0; rank < cores.size(); ++rank) {
    program::Program& program = cores[rank];
    try {
      rehearsals[rank]->require_room(program);
    } catch (const Error& error) {
      refuse(kernel, chip, error);
    }
    for (std::size_t i = 0; i < program.size(); ++i) {
      try {
        rehearsals[rank]->issue(program, program[i], hbm);
      } catch (const Error& error) {
        refuse(kernel, chip, error, where(program, i, rank, cores.size()));
      }
      program.set_engine(
          i, program.type(program[i]).engine(program.args(program[i]), chip.core.version()));
    }
  }
  return cores;
}

}  // namespace trnsim::core
