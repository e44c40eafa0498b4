// The contiguous stretches of an access pattern, in element order, in host memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "memory/memory.h"

namespace trnsim::memory {

// Walks a tile's contiguous stretches in element order.
class StretchCursor {
 public:
  StretchCursor(const Memory& memory, const AccessPattern& tile)
      : walk_(walk_of(tile)),
        rows_(tile.on_chip() ? tile.partitions() : 1),
        pitch_(tile.on_chip() ? memory.partition_pitch(tile.space) : 0),
        row_start_(memory.data(tile)),
        element_(tile.element_bytes()) {
    dense_ = walk_.inner_size() == 1 || walk_.inner_stride() == element_;
    outer_ = walk_.dims - (dense_ ? 1 : 0);
    stretch_ = dense_ ? walk_.inner_size() * element_ : element_;
    at_ = row_start_;
    left_ = stretch_;
  }

  std::byte* at() const { return at_; }
  std::int64_t left() const { return left_; }

  void advance(std::int64_t bytes) {
    at_ += bytes;
    left_ -= bytes;
    if (left_ == 0) next_stretch();
  }

 private:
  void next_stretch() {
    at_ -= stretch_;
    left_ = stretch_;
    for (int d = outer_ - 1; d >= 0; --d) {
      at_ += walk_.strides[d];
      if (++index_[d] < walk_.sizes[d]) return;
      at_ -= walk_.strides[d] * walk_.sizes[d];
      index_[d] = 0;
    }
    if (--rows_ > 0) {
      row_start_ += pitch_;
      at_ = row_start_;
    }
  }

  Walk walk_;
  int rows_;
  std::ptrdiff_t pitch_;
  std::byte* row_start_;
  std::int64_t element_;
  bool dense_;
  int outer_;
  std::int64_t stretch_;
  std::byte* at_;
  std::int64_t left_;
  std::array<std::int64_t, AccessPattern::kMaxDims> index_{};
};

// Copies a pattern's elements to or from a dense host buffer.
void gather(const Memory& memory, const AccessPattern& from, std::byte* to);
void scatter(const Memory& memory, const AccessPattern& to, const std::byte* from);

}  // namespace trnsim::memory
