#include "isa/transfer.h"

#include <algorithm>

#include "isa/bits.h"
#include "numerics/convert.h"

namespace trnsim::isa {
namespace {

// Elements of the longest piece that is contiguous in the pattern, never crossing a partition.
std::int64_t contiguous_elements(const Tile& tile) {
  const memory::Walk walk = memory::walk_of(tile);
  return walk.inner_size() == 1 || walk.inner_stride() == tile.element_bytes() ? walk.inner_size()
                                                                               : 1;
}

}  // namespace

void check_dma_operand(const Rules& rules, const char* name, const Tile& tile) {
  if (tile.space == Space::kPsum) {
    rules.fail("buffer",
               "{} is in PSUM, which DMA does not reach; copy it to SBUF first (tensor_copy)",
               name);
  }
  if (tile.on_chip() && tile.start_partition + tile.partitions() > rules.core().sbuf.partitions) {
    rules.fail("partitions", "{} reaches partition {}; SBUF has {}", name,
               tile.start_partition + tile.partitions() - 1, rules.core().sbuf.partitions.value);
  }
}

void check_dma_modes(const Rules& rules, DgeMode dge_mode, const OptionalInt& priority, Dtype dst,
                     Dtype src) {
  if (dge_mode == DgeMode::kHardware) {
    rules.generation_at_least(3, "hardware descriptor generation");
    if (dst != src) {
      rules.fail("hwdge_dtype", "hardware descriptor generation cannot convert {} to {}",
                 numerics::info(src).name, numerics::info(dst).name);
    }
  }
  if (!priority.present) return;
  rules.generation_at_least(4, "priority");
  const auto& classes = rules.core().dma.qos_classes;
  if (!classes) rules.fail("priority", "priority is given, but this core's transfers have none");
  if (priority.value < 0 || static_cast<double>(priority.value) >= *classes) {
    rules.fail("priority", "priority is {}; it must be 0 (highest) to {}", priority.value,
               classes->value - 1);
  }
}

DgeMode descriptors_of(const catalog::Core& core, DgeMode asked, bool indexed, bool converts) {
  if (indexed) return DgeMode::kSoftware;
  if (asked != DgeMode::kUnknown) return asked;
  if (!core.dma.hardware_issue) return DgeMode::kNone;
  return converts ? DgeMode::kSoftware : DgeMode::kHardware;
}

std::vector<float> read_floats(const CoreState& state, const Tile& tile) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(tile.elements()));
  const memory::Walk walk = memory::walk_of(tile);
  const std::byte* source = state.memory.data(tile);
  for (int row = 0; row < (tile.on_chip() ? tile.partitions() : 1); ++row) {
    memory::for_each_run(walk, row * state.memory.partition_pitch(tile.space),
                         [&](std::int64_t offset) {
                           const std::size_t at = values.size();
                           values.resize(at + walk.inner_size());
                           numerics::to_float(tile.dtype, source + offset, walk.inner_stride(),
                                              values.data() + at, walk.inner_size());
                         });
  }
  return values;
}

void write_floats(CoreState& state, const Tile& tile, const std::vector<float>& values) {
  const memory::Walk walk = memory::walk_of(tile);
  const float* next = values.data();
  std::byte* target = state.memory.data(tile);
  for (int row = 0; row < (tile.on_chip() ? tile.partitions() : 1); ++row) {
    memory::for_each_run(walk, row * state.memory.partition_pitch(tile.space),
                         [&](std::int64_t offset) {
                           numerics::from_float(tile.dtype, next, target + offset,
                                                walk.inner_stride(), walk.inner_size());
                           next += walk.inner_size();
                         });
  }
}

void transfer(CoreState& state, const Tile& dst, const Tile& src) {
  if (dst.dtype == src.dtype) return copy_bits(state, dst, src);
  write_floats(state, dst, read_floats(state, src));
}

DmaWork dma_work(const Tile& dst, const Tile& src) {
  DmaWork work;
  // Where the types differ, the wider one sets the pace.
  work.bytes = std::max(dst.bytes(), src.bytes());
  const std::int64_t piece =
      std::max<std::int64_t>(1, std::min(contiguous_elements(dst), contiguous_elements(src)));
  work.element_bytes = piece * std::max(dst.element_bytes(), src.element_bytes());
  work.elements = (work.bytes + work.element_bytes - 1) / work.element_bytes;
  const int on_chip =
      std::max(dst.on_chip() ? dst.partitions() : 0, src.on_chip() ? src.partitions() : 0);
  work.lanes = on_chip ? on_chip
                       : static_cast<std::int32_t>(
                             std::min<std::int64_t>(work.elements, memory::kPartitionsMax));
  work.hbm_read = src.on_chip() ? 0 : src.bytes();
  work.hbm_written = dst.on_chip() ? 0 : dst.bytes();
  return work;
}

}  // namespace trnsim::isa
