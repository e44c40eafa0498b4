// What one operand of one instruction touches: a partition range and up to four free dimensions
// with strides. Plain data, so that a program can be recorded, saved and clocked without the
// tensors that it came from. On chip (SBUF, PSUM) dimension 0 is the partition; an HBM tensor has
// no partitions and dimension 0 is its outermost one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "numerics/dtype.h"

namespace trnsim::memory {

enum class Space : std::uint8_t { kSbuf, kPsum, kHbm };

const char* space_name(Space space);  // "SBUF", "PSUM", "HBM"

// What the host arrays that hold a value per partition are made for; a chip with more is refused.
inline constexpr int kPartitionsMax = 128;

struct AccessPattern {
  static constexpr int kMaxDims = 5;

  std::int64_t offset = 0;  // bytes: within each partition (on chip), within the tensor (HBM)
  std::array<std::int64_t, kMaxDims> strides{};  // bytes; entry 0 is unused on chip
  std::array<std::int32_t, kMaxDims> sizes{};
  std::uint32_t tensor = 0;  // id of the allocation
  std::uint16_t start_partition = 0;
  Space space = Space::kSbuf;
  numerics::Dtype dtype = numerics::Dtype::kFloat32;
  std::uint8_t dims = 0;  // 0: no operand
  // Not 0: the elements of a partition are columns that an index names, and this is the entry of
  // Memory's table that says which; sizes count them, offset is where column 0 lies.
  std::uint16_t indirection = 0;

  bool present() const { return dims != 0; }
  bool on_chip() const { return space != Space::kHbm; }
  int partitions() const { return sizes[0]; }
  int element_bytes() const { return numerics::info(dtype).bytes; }
  std::int64_t free_elements() const {
    std::int64_t n = 1;
    for (int i = 1; i < dims; ++i) n *= sizes[i];
    return n;
  }
  std::int64_t elements() const { return dims == 0 ? 0 : free_elements() * sizes[0]; }
  std::int64_t bytes() const { return elements() * element_bytes(); }
  // Bytes from one element to the next along the innermost free dimension with more than one
  // element.
  std::int64_t inner_stride() const;
};

// NkiTensor.indirect(): columns of `extent`, at the offsets that elements of `index` hold.
struct Indirection {
  AccessPattern extent, index;
};

// The free dimensions (on chip) or all dimensions (HBM) with neighbours merged where memory is
// contiguous, outermost first; the last one describes the run of elements that the hardware walks.
struct Walk {
  int dims = 0;
  std::array<std::int64_t, AccessPattern::kMaxDims> sizes{};
  std::array<std::int64_t, AccessPattern::kMaxDims> strides{};  // bytes

  std::int64_t inner_size() const { return sizes[dims - 1]; }
  std::int64_t inner_stride() const { return strides[dims - 1]; }
  bool contiguous(int element_bytes) const {
    return dims == 1 && (sizes[0] == 1 || strides[0] == element_bytes);
  }
};

Walk walk_of(const AccessPattern& pattern);

// Calls fn(byte_offset) for the start of each innermost run.
template <class Fn>
void for_each_run(const Walk& walk, std::int64_t offset, Fn&& fn) {
  if (walk.dims == 1) return fn(offset);
  std::array<std::int64_t, AccessPattern::kMaxDims> index{};
  const int outer = walk.dims - 1;
  for (;;) {
    fn(offset);
    int d = outer - 1;
    while (d >= 0) {
      offset += walk.strides[d];
      if (++index[d] < walk.sizes[d]) break;
      offset -= walk.strides[d] * walk.sizes[d];
      index[d] = 0;
      --d;
    }
    if (d < 0) return;
  }
}

// Bytes [low, high) that the pattern stays within, in the same coordinates as `offset`.
struct Extent {
  std::int64_t low, high;
};
Extent extent_of(const AccessPattern& pattern);

// Whether any byte is in both patterns. Exact for patterns of up to a few thousand runs, otherwise
// errs towards true.
bool overlaps(const AccessPattern& a, const AccessPattern& b);

}  // namespace trnsim::memory
