// Access patterns written by hand, random ones, and the plain answer to what a pattern touches:
// byte by byte, without a shortcut.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "memory/access_pattern.h"
#include "memory/memory.h"

namespace trnsim::memory {

using numerics::Dtype;

struct Step {
  std::int64_t bytes;
  int count;
};

// On chip: `partitions` rows of the free dimensions `steps`.
inline AccessPattern rows(int start_partition, int partitions, std::int64_t offset,
                          std::initializer_list<Step> steps, Dtype dtype = Dtype::kUint8) {
  AccessPattern p;
  p.space = Space::kSbuf;
  p.dtype = dtype;
  p.start_partition = static_cast<std::uint16_t>(start_partition);
  p.offset = offset;
  p.sizes[0] = partitions;
  p.dims = 1;
  for (const Step& step : steps) {
    p.strides[p.dims] = step.bytes;
    p.sizes[p.dims++] = step.count;
  }
  return p;
}

inline AccessPattern hbm(std::int64_t offset, std::initializer_list<Step> steps,
                         Dtype dtype = Dtype::kUint8, std::uint32_t tensor = 1) {
  AccessPattern p;
  p.space = Space::kHbm;
  p.dtype = dtype;
  p.tensor = tensor;
  p.offset = offset;
  for (const Step& step : steps) {
    p.strides[p.dims] = step.bytes;
    p.sizes[p.dims++] = step.count;
  }
  return p;
}

// (partition, byte) of each element's first byte, in element order; the partition is 0 in HBM.
inline std::vector<std::pair<int, std::int64_t>> element_places(const AccessPattern& p) {
  std::vector<std::pair<int, std::int64_t>> places;
  const int first = p.on_chip() ? 1 : 0;
  for (int row = 0; row < (p.on_chip() ? p.partitions() : 1); ++row) {
    std::vector<std::int64_t> offsets{p.offset};
    for (int d = first; d < p.dims; ++d) {
      std::vector<std::int64_t> next;
      for (const std::int64_t at : offsets) {
        for (int i = 0; i < p.sizes[d]; ++i) next.push_back(at + i * p.strides[d]);
      }
      offsets = std::move(next);
    }
    for (const std::int64_t at : offsets)
      places.emplace_back(p.on_chip() ? p.start_partition + row : 0, at);
  }
  return places;
}

inline std::set<std::pair<int, std::int64_t>> touched_bytes(const AccessPattern& p) {
  std::set<std::pair<int, std::int64_t>> bytes;
  for (const auto& [row, at] : element_places(p)) {
    for (int i = 0; i < p.element_bytes(); ++i) bytes.emplace(row, at + i);
  }
  return bytes;
}

// A pattern whose elements lie within [0, room) of each partition or of the tensor. Strides are
// whole elements, of either sign or 0; every other pattern counts them as a row-major view does.
inline AccessPattern random_pattern(std::mt19937& random, Space space, int partitions,
                                    std::int64_t room) {
  const auto up_to = [&](std::int64_t n) {
    return std::uniform_int_distribution<std::int64_t>(0, n)(random);
  };
  for (;;) {
    constexpr Dtype kDtypes[] = {Dtype::kUint8, Dtype::kBfloat16, Dtype::kFloat32};
    AccessPattern p;
    p.space = space;
    p.dtype = kDtypes[up_to(2)];
    p.tensor = 1;
    const int element = p.element_bytes(), first = p.on_chip() ? 1 : 0;
    if (p.on_chip()) {
      p.start_partition = static_cast<std::uint16_t>(up_to(partitions - 1));
      p.sizes[0] = static_cast<std::int32_t>(1 + up_to(partitions - p.start_partition - 1));
    }
    p.dims = static_cast<std::uint8_t>(first + 1 + up_to(2));
    const bool like_a_view = up_to(1) == 0;
    std::int64_t stride = (1 + up_to(2)) * element;
    for (int d = p.dims - 1; d >= first; --d) {
      p.sizes[d] = static_cast<std::int32_t>(1 + up_to(4));
      p.strides[d] = like_a_view ? stride : (up_to(16) - 4) * element;
      stride *= p.sizes[d] + up_to(1);
    }
    p.offset = up_to(room / element - 1) * element;
    const Extent extent = extent_of(p);
    if (extent.low >= 0 && extent.high <= room) return p;
  }
}

// The rule that `call` breaks; empty when it breaks none.
template <class Call>
std::string broken_rule(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kProgram);
    return error.rule();
  }
  return "";
}

// What `call` says when it refuses.
template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

inline constexpr Geometry kSmallChip{
    .partitions = 8, .sbuf_bytes = 1024, .psum_bytes = 512, .psum_bank_bytes = 128};

inline std::shared_ptr<Memory> small_chip() { return std::make_shared<Memory>(kSmallChip); }

}  // namespace trnsim::memory
