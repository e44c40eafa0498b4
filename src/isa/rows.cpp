#include "isa/rows.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "isa/bits.h"
#include "numerics/convert.h"

namespace trnsim::isa {
namespace {

constexpr std::int64_t kBlockElements = 8192;  // 32 KiB of fp32

// fp32 rows that are contiguous need no conversion and no copy.
bool in_place(const Tile& tile) {
  if (tile.dtype != Dtype::kFloat32) return false;
  if (tile.dims == 2) return tile.strides[1] == sizeof(float) || tile.sizes[1] == 1;
  return memory::walk_of(tile).contiguous(sizeof(float));
}

// Writing in place over the very bytes read is safe row by row; any other overlap needs a copy
// first.
bool harmless(const Tile& dst, const Tile& source) {
  if (!source.present() || source.space != dst.space) return true;
  if (dst.offset == source.offset && dst.start_partition == source.start_partition &&
      dst.dtype == source.dtype)
    return true;
  return !memory::overlaps(dst, source);
}

// fp32 holds every integer below this. The next but one, 2^24 + 1, becomes 2^24.
constexpr float kExactIntegers = 1 << 24;

// From the limit on a value counts as inexact, even where it happens not to be.
void require_exact(const CoreState& state, const Tile& tile, const float* values, std::size_t count,
                   const char* way) {
  for (std::size_t i = 0; i < count; ++i) {
    if (std::abs(values[i]) < kExactIntegers) continue;
    program_error("memory.inexact_integer",
                  "{} {} of {} tensor '{}' through fp32, which holds every integer below 2^24 "
                  "only. Use 32-bit integer tiles in SBUF for all of tensor_tensor's operands "
                  "(GpSimd is exact), bitwise operators, or smaller numbers",
                  way, values[i], numerics::info(tile.dtype).name,
                  state.memory.allocation(tile.tensor).name);
  }
}

}  // namespace

int rows_per_block(std::int64_t row_elements) {
  return static_cast<int>(
      std::clamp<std::int64_t>(kBlockElements / row_elements, 1, memory::kPartitionsMax));
}

RowReader::RowReader(CoreState& state, int slot, const Tile& tile)
    : state_(&state),
      tile_(&tile),
      slot_(slot),
      data_(state.memory.data(tile)),
      pitch_(state.memory.partition_pitch(tile.space)),
      direct_(in_place(tile)) {
  if (!direct_) walk_ = memory::walk_of(tile);
}

RowReader::RowReader(CoreState& state, int slot, const ScalarOrTile& value)
    : state_(&state),
      slot_(slot),
      scalar_(static_cast<float>(value.scalar)),
      is_scalar_(!value.is_tile()) {
  if (value.is_tile()) *this = RowReader(state, slot, value.tile);
}

Rows RowReader::rows(int first, int count) {
  if (is_scalar_) return {&scalar_, 0, static_cast<std::size_t>(count), 1};
  const auto size = static_cast<std::size_t>(tile_->free_elements());
  const std::byte* from = data_ + first * pitch_;
  if (direct_) {
    return {reinterpret_cast<const float*>(from),
            pitch_ / static_cast<std::ptrdiff_t>(sizeof(float)), static_cast<std::size_t>(count),
            size};
  }
  const std::size_t width = size * numerics::info(tile_->dtype).packed;
  std::vector<float>& buffer = state_->scratch[slot_];
  if (buffer.size() < width * count) buffer.resize(width * count);
  float* to = buffer.data();
  const std::size_t packed_run = walk_.inner_size() * numerics::info(tile_->dtype).packed;
  for (int r = 0; r < count; ++r, from += pitch_) {
    memory::for_each_run(walk_, 0, [&](std::int64_t offset) {
      numerics::to_float(tile_->dtype, from + offset, walk_.inner_stride(), to, walk_.inner_size());
      to += packed_run;
    });
  }
  if (state_->exact_integers && is_int32(*tile_))
    require_exact(*state_, *tile_, buffer.data(), width * count, "reads");
  return {buffer.data(), static_cast<std::ptrdiff_t>(width), static_cast<std::size_t>(count),
          width};
}

RowWriter::RowWriter(CoreState& state, int slot, const Tile& tile,
                     std::initializer_list<const Tile*> sources)
    : state_(&state),
      tile_(&tile),
      slot_(slot),
      data_(state.memory.data(tile)),
      pitch_(state.memory.partition_pitch(tile.space)),
      whole_(!std::all_of(sources.begin(), sources.end(),
                          [&](const Tile* s) { return harmless(tile, *s); })),
      direct_(in_place(tile) && !whole_) {
  if (!direct_) walk_ = memory::walk_of(tile);
}

MutableRows RowWriter::rows(int first, int count) {
  first_ = first;
  const auto size = static_cast<std::size_t>(tile_->free_elements());
  if (direct_) {
    current_ = {reinterpret_cast<float*>(data_ + first * pitch_),
                pitch_ / static_cast<std::ptrdiff_t>(sizeof(float)),
                static_cast<std::size_t>(count), size};
  } else {
    const std::size_t width = size * numerics::info(tile_->dtype).packed;
    std::vector<float>& buffer = state_->scratch[slot_];
    if (buffer.size() < width * count) buffer.resize(width * count);
    current_ = {buffer.data(), static_cast<std::ptrdiff_t>(width), static_cast<std::size_t>(count),
                width};
  }
  return current_;
}

void RowWriter::commit() {
  if (direct_) return;
  const float* from = current_.data;
  if (state_->exact_integers && is_int32(*tile_)) {
    for (std::size_t r = 0; r < current_.count; ++r)
      require_exact(*state_, *tile_, current_.row(r), current_.size, "writes");
  }
  std::byte* to = data_ + first_ * pitch_;
  const std::size_t packed_run = walk_.inner_size() * numerics::info(tile_->dtype).packed;
  for (std::size_t r = 0; r < current_.count; ++r, to += pitch_) {
    memory::for_each_run(walk_, 0, [&](std::int64_t offset) {
      if (state_->stochastic) {
        numerics::from_float_stochastic(tile_->dtype, from, to + offset, walk_.inner_stride(),
                                        walk_.inner_size(), *state_->stochastic);
      } else {
        numerics::from_float(tile_->dtype, from, to + offset, walk_.inner_stride(),
                             walk_.inner_size());
      }
      from += packed_run;
    });
  }
}

}  // namespace trnsim::isa
