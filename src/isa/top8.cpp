#include "isa/top8.h"

#include "numerics/dtype.h"

namespace trnsim::isa {
namespace {

constexpr std::int64_t kSearchedMax = 16384;

}  // namespace

void check_searched(const Rules& rules, const char* name, const Tile& tile) {
  rules.operand(name, tile, Buffers::kOnChip);
  if (tile.free_elements() < kSlots || tile.free_elements() > kSearchedMax) {
    rules.fail("free_size", "{} has {} elements per partition; it takes {} to {}", name,
               tile.free_elements(), kSlots, kSearchedMax);
  }
}

void check_slots(const Rules& rules, const char* name, const Tile& tile) {
  rules.operand(name, tile, Buffers::kOnChip);
  if (tile.free_elements() != kSlots) {
    rules.fail("slots", "{} has {} elements per partition; it must have {}", name,
               tile.free_elements(), kSlots);
  }
}

void check_index_dtype(const Rules& rules, const char* name, const Tile& tile) {
  if (tile.dtype != Dtype::kUint32 && tile.dtype != Dtype::kUint16) {
    rules.fail("index_dtype", "{} is {}; indices are uint32 or uint16", name,
               numerics::info(tile.dtype).name);
  }
}

}  // namespace trnsim::isa
