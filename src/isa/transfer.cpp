#include "isa/transfer.h"

#include <algorithm>

#include "isa/bits.h"
#include "numerics/convert.h"

namespace trnsim::isa {
namespace {

// Bytes of the longest piece that is contiguous in the pattern, never crossing a partition.
std::int64_t contiguous_bytes(const Tile& tile) {
  const memory::Walk walk = memory::walk_of(tile);
  const int bytes = tile.element_bytes();
  return walk.inner_size() == 1 || walk.inner_stride() == bytes ? walk.inner_size() * bytes : bytes;
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

void transfer(CoreState& state, const Tile& dst, const Tile& src) {
  if (dst.dtype == src.dtype) return copy_bits(state, dst, src);
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(src.elements()));
  const memory::Walk from = memory::walk_of(src), to = memory::walk_of(dst);
  const std::byte* source = state.memory.data(src);
  for (int row = 0; row < (src.on_chip() ? src.partitions() : 1); ++row) {
    memory::for_each_run(from, row * state.memory.partition_pitch(src.space),
                         [&](std::int64_t offset) {
                           const std::size_t at = values.size();
                           values.resize(at + from.inner_size());
                           numerics::to_float(src.dtype, source + offset, from.inner_stride(),
                                              values.data() + at, from.inner_size());
                         });
  }
  const float* next = values.data();
  std::byte* target = state.memory.data(dst);
  for (int row = 0; row < (dst.on_chip() ? dst.partitions() : 1); ++row) {
    memory::for_each_run(to, row * state.memory.partition_pitch(dst.space),
                         [&](std::int64_t offset) {
                           numerics::from_float(dst.dtype, next, target + offset, to.inner_stride(),
                                                to.inner_size());
                           next += to.inner_size();
                         });
  }
}

DmaWork dma_work(const Tile& dst, const Tile& src) {
  DmaWork work;
  work.bytes = std::max(dst.bytes(), src.bytes());
  work.element_bytes =
      std::max<std::int64_t>(1, std::min(contiguous_bytes(dst), contiguous_bytes(src)));
  work.elements = (work.bytes + work.element_bytes - 1) / work.element_bytes;
  const int on_chip =
      std::max(dst.on_chip() ? dst.partitions() : 0, src.on_chip() ? src.partitions() : 0);
  work.lanes = on_chip ? on_chip
                       : static_cast<std::int32_t>(
                             std::min<std::int64_t>(work.elements, memory::kPartitionsMax));
  work.reads_hbm = !src.on_chip();
  work.writes_hbm = !dst.on_chip();
  return work;
}

}  // namespace trnsim::isa
