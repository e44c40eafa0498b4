#include "core/indirection.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "core/logical_core.h"
#include "core/neuron_core.h"
#include "core/non_finite.h"
#include "isa/bits.h"
#include "isa/slices.h"

namespace trnsim::core {
namespace {

using isa::FieldInfo;
using isa::Tile;
using memory::Indirection;
using memory::Space;

struct Operand {
  const FieldInfo* field;
  Tile tile;    // as the kernel gave it
  Tile staged;  // where its columns stand meanwhile
  Indirection what;
  std::vector<std::int64_t> columns{};  // byte offsets from the extent's; empty in timing-only runs

  std::int64_t count() const { return tile.sizes[1]; }
  Tile column(std::int64_t offset) const {
    Tile column = what.extent;
    column.offset += offset;
    column.dims = 2;
    column.sizes = {tile.partitions(), 1};
    column.strides = {0, tile.element_bytes()};
    return column;
  }
  Tile staged_column(std::size_t i) const {
    Tile column = staged;
    column.offset += static_cast<std::int64_t>(i) * tile.element_bytes();
    column.sizes[1] = 1;
    return column;
  }
};

Tile& tile_at(std::vector<std::byte>& args, const FieldInfo& field) {
  return *reinterpret_cast<Tile*>(args.data() + field.offset);
}

// The operand whose partitions the index of a scattered destination follows: the first that is read
// and may itself be indirect.
const Tile* main_source(const isa::InstructionType& type, const void* args) {
  const Tile* source = nullptr;
  isa::for_each_tile(type, args, [&](const FieldInfo& field, const Tile& tile) {
    if (!source && field.indirectable && field.access == isa::Access::kRead) source = &tile;
  });
  return source;
}

void check_placement(const isa::Rules& rules, const Operand& operand, const Tile* source,
                     const memory::Memory& memory, isa::Engine engine) {
  const std::string_view name = operand.field->name;
  const int at = operand.what.index.start_partition;
  if (at % isa::kQuadrantPartitions != 0) {
    rules.fail("indirect_index",
               "the index of {} starts at partition {}; it must be a multiple of {}", name, at,
               isa::kQuadrantPartitions);
  }
  if (!isa::writes(operand.field->access)) {
    // MX scales start on one of their quadrant's rows, their index with the quadrant.
    const int start = operand.tile.start_partition;
    if ((operand.field->access == isa::Access::kReadPart ? start - start % isa::kQuadrantPartitions
                                                         : start) != at) {
      rules.fail("indirect_start",
                 "{} starts at partition {} and its index at {}; they must be equal", name,
                 operand.tile.start_partition, at);
    }
    return;
  }
  if (engine == isa::Engine::kScalar && operand.tile.space == Space::kPsum) {
    rules.fail("indirect_psum", "the Scalar engine cannot scatter {} into PSUM", name);
  }
  if (!source) return;
  int wanted = source->start_partition;
  if (source->space == Space::kPsum) {
    if (source->indirection == 0) return;
    wanted = memory.indirection(source->indirection).index.start_partition;
  }
  if (at != wanted) {
    rules.fail(
        "indirect_start",
        "the index of {} starts at partition {}; it must start where the source{} does, at {}",
        name, at, source->space == Space::kPsum ? "'s index" : "", wanted);
  }
}

// Elements [0, min(n, group)) x [0, n / group] of the index, which hold the n offsets.
void check_index(const isa::Rules& rules, const Operand& operand, int group) {
  const Tile& index = operand.what.index;
  const std::int64_t n = operand.count(), rows = std::min<std::int64_t>(n, group);
  if (index.partitions() < rows || index.free_elements() * group < n) {
    rules.fail(
        "indirect_index",
        "the index of {} is {} x {}; in groups of {} partitions it holds {} offsets, and {} are "
        "asked for (num_elem)",
        operand.field->name, index.partitions(), index.free_elements(), group,
        std::min(group, index.partitions()) * index.free_elements(), n);
  }
  const auto require = [&](std::int64_t count, std::int64_t first, std::int64_t width) {
    if (count == 0 || width == 0) return;
    Tile part = isa::rows_of(index, 0, static_cast<std::int32_t>(count));
    part.offset += first * part.strides[1];
    part.sizes[1] = static_cast<std::int32_t>(width);
    rules.memory().require_written(part, "the index of an indirect tile");
  };
  require(rows, 0, n / group);
  require(n % group, n / group, 1);
}

std::int64_t byte_offset(const Tile& extent, std::int64_t element) {
  std::int64_t offset = 0;
  for (int d = extent.dims - 1; d >= 1; --d) {
    offset += element % extent.sizes[d] * extent.strides[d];
    element /= extent.sizes[d];
  }
  return offset;
}

void resolve_columns(const isa::Rules& rules, const isa::CoreState& state, Operand& operand,
                     int group) {
  const std::vector<std::int64_t> values = isa::read_integers(state, operand.what.index);
  const std::int64_t width = operand.what.index.free_elements(), n = operand.count();
  const std::int64_t limit = operand.what.extent.free_elements();
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t value = values[static_cast<std::size_t>(i % group * width + i / group)];
    if (value < 0 || value >= limit) {
      rules.fail("indirect_bounds",
                 "offset {} of {} (index[{}, {}]) is {}; the tile has elements 0 to {}", i,
                 operand.field->name, i % group, i / group, value, limit - 1);
    }
    operand.columns.push_back(byte_offset(operand.what.extent, value));
  }
}

void copy_columns(const memory::Memory& memory, const Operand& operand, bool back) {
  const auto bytes = static_cast<std::size_t>(operand.tile.element_bytes());
  const std::ptrdiff_t pitch = memory.partition_pitch(operand.tile.space);
  std::byte* rows = memory.data(operand.what.extent);
  std::byte* dense = memory.data(operand.staged);
  for (int p = 0; p < operand.tile.partitions(); ++p, rows += pitch, dense += pitch) {
    for (std::size_t i = 0; i < operand.columns.size(); ++i) {
      std::byte* column = rows + operand.columns[i];
      std::byte* place = dense + i * bytes;
      std::memcpy(back ? column : place, back ? place : column, bytes);
    }
  }
}

// Which of the destination's bytes matmuls wrote last: nc_matmul's accumulation asks.
void stage_accumulation(memory::Memory& memory, const Operand& operand) {
  memory.mark_accumulated(operand.staged, false);
  if (operand.columns.empty()) {
    if (memory.accumulated_by_itself(operand.what.extent) == memory::Share::kAll)
      memory.mark_accumulated(operand.staged, true);
    return;
  }
  for (std::size_t i = 0; i < operand.columns.size(); ++i) {
    const Tile column = operand.column(operand.columns[i]);
    if (memory.accumulated_by_itself(column) == memory::Share::kNone) continue;
    for (int p = 0; p < column.partitions(); ++p) {
      if (memory.accumulated_by_itself(isa::row_of(column, p)) == memory::Share::kAll)
        memory.mark_accumulated(isa::row_of(operand.staged_column(i), p), true);
    }
  }
}

void gather(memory::Memory& memory, const Operand& operand) {
  const bool read = isa::reads_whole(operand.field->access);
  if (read && !memory.written(operand.what.extent)) {
    for (const std::int64_t column : operand.columns)
      memory.require_written(operand.column(column), operand.field->name.data());
  }
  if (!operand.columns.empty()) copy_columns(memory, operand, false);
  memory.mark_written(operand.staged);
  if (operand.tile.space == Space::kPsum) stage_accumulation(memory, operand);
}

void mark(memory::Memory& memory, const Tile& tile, bool by_matmul) {
  memory.mark_written(tile);
  if (tile.space == Space::kPsum) memory.mark_accumulated(tile, by_matmul);
}

}  // namespace

void NeuronCore::issue_indirect(const isa::InstructionType& type, const void* args,
                                std::uint32_t site, const isa::Rules& rules) {
  rules.generation_at_least(kIndirectSince, "tensor indirection (NkiTensor.indirect)");
  const isa::Engine engine = type.engine(args, spec_.version());
  const int group = engine == isa::Engine::kTensor ? 32 : 16;
  const auto* bytes = static_cast<const std::byte*>(args);
  std::vector<std::byte> staged(bytes, bytes + type.size());
  std::vector<Operand> operands;
  isa::for_each_tile(type, args, [&](const FieldInfo& field, const Tile& tile) {
    if (tile.indirection == 0) return;
    if (!field.indirectable) rules.fail("indirect", "{} cannot be an indirect tile", field.name);
    const auto area = static_cast<int>(operands.size());
    operands.push_back(
        {&field, tile, memory_->staged(tile, area), memory_->indirection(tile.indirection)});
    tile_at(staged, field) = operands.back().staged;
  });
  const Tile* source = main_source(type, args);
  for (Operand& operand : operands) {
    check_placement(rules, operand, source, *memory_, engine);
    check_index(rules, operand, group);
    if (options_.values) resolve_columns(rules, state_, operand, group);
    gather(*memory_, operand);
  }
  type.check(staged.data(), rules);
  for (const std::string& text : rules.remarks()) remark(type, text, text, site);
  isa::for_each_tile(type, staged.data(), [&](const FieldInfo& field, const Tile& tile) {
    if (isa::reads_whole(field.access)) require_readable(type, field, tile, engine, site);
  });
  if (logical_) logical_->before(place_.rank, type, args, site);
  std::optional<NonFiniteWatch> watch;
  if (options_.stop_on_nan && options_.values) watch.emplace(type, staged.data(), *memory_);
  if (options_.values) type.execute(staged.data(), state_);
  for (const Operand& operand : operands) {
    program_.define(operand.tile.indirection, operand.what);
    if (options_.values && isa::writes(operand.field->access))
      copy_columns(*memory_, operand, true);
  }
  program_.append(type, engine, site, args);
  memory_->next_instruction();
  if (logical_) logical_->after(place_.rank, type, args);
  const bool by_matmul = engine == isa::Engine::kTensor;
  isa::for_each_tile(type, args, [&](const FieldInfo& field, const Tile& tile) {
    if (isa::writes(field.access) && tile.indirection == 0) mark(*memory_, tile, by_matmul);
  });
  for (const Operand& operand : operands) {
    if (!isa::writes(operand.field->access)) continue;
    if (!options_.values) mark(*memory_, operand.what.extent, by_matmul);
    for (const std::int64_t column : operand.columns)
      mark(*memory_, operand.column(column), by_matmul);
  }
  if (watch) watch->check(program_);
}

}  // namespace trnsim::core
