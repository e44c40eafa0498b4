#include "core/races.h"

#include <cstring>

#include "base/error.h"
#include "isa/slices.h"
#include "memory/stretch.h"

namespace trnsim::core {
namespace {

using isa::Tile;

// Which bytes are written in part is not known from outside.
constexpr bool writes_whole(isa::Access access) {
  return isa::writes(access) && access != isa::Access::kWritePart;
}

// Calls fn(first byte, byte count) for each contiguous stretch of an HBM tile.
template <class Fn>
void for_each_stretch(const Tile& tile, Fn&& fn) {
  const memory::Walk walk = memory::walk_of(tile);
  const int bytes = tile.element_bytes();
  const bool dense = walk.inner_size() == 1 || walk.inner_stride() == bytes;
  memory::for_each_run(walk, tile.offset, [&](std::int64_t start) {
    if (dense) return fn(start, walk.inner_size() * bytes);
    for (std::int64_t i = 0; i < walk.inner_size(); ++i) fn(start + i * walk.inner_stride(), bytes);
  });
}

Tile one_byte(const Tile& tensor, std::int64_t byte) {
  Tile tile;
  tile.tensor = tensor.tensor;
  tile.space = memory::Space::kHbm;
  tile.dtype = numerics::Dtype::kUint8;
  tile.offset = byte;
  tile.dims = 1;
  tile.sizes = {1};
  tile.strides = {1};
  return tile;
}

// What the first elements of an index name of a tile with so many rows.
std::vector<std::int32_t> named_rows(const memory::Memory& memory, const isa::RowsByIndex& by,
                                     std::int32_t rows) {
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(by.index->elements()));
  memory::gather(memory, *by.index, reinterpret_cast<std::byte*>(numbers.data()));
  const std::int64_t height = by.index->partitions(), width = by.index->free_elements();
  std::vector<std::int32_t> named;
  for (std::int64_t i = 0; i < by.count; ++i) {
    const std::uint32_t row = numbers[static_cast<std::size_t>(i % height * width + i / height)];
    if (row < static_cast<std::uint32_t>(rows)) named.push_back(static_cast<std::int32_t>(row));
  }
  return named;
}

}  // namespace

template <class Fn>
void Races::for_each_shared(int rank, const isa::InstructionType& type, const void* args,
                            Fn&& fn) const {
  const memory::Memory& memory = cores_[rank]->memory();
  const isa::RowsByIndex by = type.by_index ? type.by_index(args) : isa::RowsByIndex{};
  isa::for_each_tile(type, args, [&](const isa::FieldInfo& field, const Tile& tile) {
    if (tile.on_chip() || !memory.allocation(tile.tensor).shared) return;
    if (!by.among(tile)) return fn(field, tile, tile, -1);
    if (!cores_[rank]->options().values) return;
    for (const std::int32_t row : named_rows(memory, by, tile.sizes[0]))
      fn(field, tile, isa::row_of(tile, row), row);
  });
}

Races::Shared& Races::shared(const Tile& tile) {
  Shared& tensor = tensors_[tile.tensor];
  if (tensor.empty()) {
    const std::int64_t bytes = cores_[0]->memory().allocation(tile.tensor).bytes;
    tensor.resize(cores_.size());
    for (ByCore& by : tensor) by.written = by.read = memory::WrittenMap(1, bytes);
  }
  return tensor;
}

void Races::check(int rank, const isa::InstructionType& type, const void* args,
                  std::uint32_t site) {
  for_each_shared(rank, type, args,
                  [&](const isa::FieldInfo& field, const Tile&, const Tile& tile, std::int32_t) {
                    Shared& tensor = shared(tile);
                    Use use{rank, site, type.info.name, cores_[rank]->program().size(), false};
                    if (isa::reads(field.access)) check_read(use, tensor, tile);
                    use.writes = true;
                    if (writes_whole(field.access)) check_write(use, tensor, tile);
                  });
}

void Races::check_read(const Use& use, Shared& tensor, const Tile& tile) const {
  for (int other = 0; other < static_cast<int>(tensor.size()); ++other) {
    if (other == use.rank) continue;
    // What this core has written too is judged as two writes.
    const auto at = tensor[other].written.first_written(tile, 0, 0, &tensor[use.rank].written);
    if (at)
      report(touching(other, tensor[other].writes, tile, at->byte, true), use, tile, at->byte);
  }
}

void Races::check_write(const Use& use, Shared& tensor, const Tile& tile) const {
  for (int other = 0; other < static_cast<int>(tensor.size()); ++other) {
    if (other == use.rank) continue;
    map_reads(other, tensor[other]);
    if (const auto at = tensor[other].read.first_written(tile, 0, 0))
      report(touching(other, tensor[other].reads, tile, at->byte, false), use, tile, at->byte);
    std::vector<std::byte>& before = tensor[use.rank].before;
    if (!cores_[use.rank]->options().values || !before.empty()) continue;
    if (!tensor[other].written.first_written(tile, 0, 0)) continue;
    const memory::Allocation& whole = cores_[use.rank]->memory().allocation(tile.tensor);
    before.assign(whole.hbm.get(), whole.hbm.get() + whole.bytes);
  }
}

void Races::map_reads(int rank, ByCore& by) const {
  for (; by.mapped < by.reads.size(); ++by.mapped)
    by.read.mark(tile_of(rank, by.reads[by.mapped]), 0, 0);
}

void Races::record(int rank, const isa::InstructionType& type, const void* args) {
  const auto instruction = static_cast<std::uint32_t>(cores_[rank]->program().size() - 1);
  const auto* first = static_cast<const std::byte*>(args);
  for_each_shared(
      rank, type, args,
      [&](const isa::FieldInfo& field, const Tile& whole, const Tile& tile, std::int32_t row) {
        const auto operand =
            static_cast<std::uint32_t>(reinterpret_cast<const std::byte*>(&whole) - first);
        ByCore& by = shared(tile)[rank];
        if (isa::reads(field.access) && by.written.first_unwritten(tile, 0, 0))
          by.reads.push_back({instruction, operand, row});
        if (writes_whole(field.access)) {
          by.writes.push_back({instruction, operand, row});
          by.written.mark(tile, 0, 0);
        }
      });
}

void Races::synchronise() {
  for (auto& [id, tensor] : tensors_) compare(tensor);
  tensors_.clear();
}

void Races::compare(Shared& tensor) const {
  for (int rank = 0; rank < static_cast<int>(tensor.size()); ++rank) {
    const std::vector<std::byte>& before = tensor[rank].before;
    if (before.empty()) continue;
    for (const Access& access : tensor[rank].writes) {
      const Tile tile = tile_of(rank, access);
      const std::byte* now = cores_[rank]->memory().allocation(tile.tensor).hbm.get();
      for_each_stretch(tile, [&](std::int64_t start, std::int64_t count) {
        if (std::memcmp(now + start, before.data() + start, count) == 0) return;
        for (std::int64_t byte = start; byte < start + count; ++byte) {
          if (now[byte] == before[byte]) continue;
          for (int other = 0; other < static_cast<int>(tensor.size()); ++other) {
            if (other == rank || !tensor[other].written.first_written(one_byte(tile, byte), 0, 0))
              continue;
            report(touching(other, tensor[other].writes, tile, byte, true),
                   touching(rank, tensor[rank].writes, tile, byte, true), tile, byte);
          }
        }
      });
    }
  }
}

Tile Races::tile_of(int rank, const Access& access) const {
  const program::Program& program = cores_[rank]->program();
  const Tile& tile = *reinterpret_cast<const Tile*>(
      static_cast<const std::byte*>(program.args(program[access.instruction])) + access.operand);
  return access.row < 0 ? tile : isa::row_of(tile, access.row);
}

Races::Use Races::use_of(int rank, const Access& access, bool writes) const {
  const program::Program& program = cores_[rank]->program();
  const program::Instruction& instruction = program[access.instruction];
  return {rank, instruction.site, program.type(instruction).info.name, access.instruction, writes};
}

Races::Use Races::touching(int rank, const std::vector<Access>& accesses, const Tile& tensor,
                           std::int64_t byte, bool writes) const {
  const Tile wanted = one_byte(tensor, byte);
  for (const Access& access : accesses) {
    if (memory::overlaps(tile_of(rank, access), wanted)) return use_of(rank, access, writes);
  }
  internal_error("no access of core {} touches byte {}", rank, byte);
}

std::string Races::described(const Use& use) const {
  return fmt::format("core {} {} it at {} ({}, instruction {})", use.rank,
                     use.writes ? "writes" : "reads", cores_[use.rank]->program().place(use.site),
                     use.opcode, use.instruction);
}

void Races::report(const Use& first, const Use& second, const Tile& tile, std::int64_t byte) const {
  const memory::Allocation& tensor = cores_[second.rank]->memory().allocation(tile.tensor);
  const memory::Extent extent = memory::extent_of(tile);
  program_error(
      "race.shared_hbm",
      "two cores use the shared tensor '{}' at byte {} (within bytes {} to {}) and did not "
      "meet in between: {}; {}.{} Put nisa.core_barrier(data, (0, 1)) between the two, or "
      "let the cores use disjoint parts",
      tensor.name, byte, extent.low, extent.high - 1, described(first), described(second),
      first.writes && second.writes ? " The values differ." : "");
}

}  // namespace trnsim::core
