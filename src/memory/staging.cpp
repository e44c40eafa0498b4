// Indirect tiles: the table of what they stand for, and the areas beside SBUF and PSUM where their
// columns are put together. An area is addressed like the memory itself, by an offset beyond it.
#include <limits>

#include "base/error.h"
#include "memory/memory.h"

namespace trnsim::memory {

std::uint16_t Memory::intern(const Indirection& indirection) {
  std::string key;
  for (const AccessPattern* pattern : {&indirection.extent, &indirection.index}) {
    key += fmt::format("{} {} {} {};", pattern->tensor, pattern->start_partition, pattern->offset,
                       static_cast<int>(pattern->dtype));
    for (int d = 0; d < pattern->dims; ++d)
      key += fmt::format("{}x{},", pattern->sizes[d], pattern->strides[d]);
  }
  const auto [it, added] =
      indirection_ids_.try_emplace(key, static_cast<std::uint16_t>(indirections_.size()));
  if (!added) return it->second;
  if (indirections_.size() > std::numeric_limits<std::uint16_t>::max()) {
    unsupported(
        "more than {} different indirect tiles in one kernel, because a recorded operand "
        "has 16 bits for them",
        std::numeric_limits<std::uint16_t>::max());
  }
  indirections_.push_back(indirection);
  return it->second;
}

std::ptrdiff_t Memory::staging_pitch(Space space) const {
  constexpr std::ptrdiff_t kPage = 65536;  // a multiple of a PSUM bank: bank rules hold in an area
  const std::ptrdiff_t bytes = geometry_.partitions * partition_pitch(space);
  return geometry_.staging_areas == 0 ? bytes : (bytes + kPage - 1) / kPage * kPage;
}

AccessPattern Memory::staged(const AccessPattern& tile, int area) {
  const std::int64_t room =
      tile.space == Space::kSbuf ? geometry_.sbuf_bytes : geometry_.psum_bytes;
  const std::int64_t row = tile.free_elements() * tile.element_bytes();
  if (area >= geometry_.staging_areas || row > room) {
    unsupported("an indirect operand of {} bytes in each partition, because {} partitions have {}",
                row, space_name(tile.space), room);
  }
  std::shared_ptr<Allocation>& allocation = staging_[{tile.space, area}];
  if (!allocation) {
    auto fresh = std::make_unique<Allocation>();
    fresh->name = "columns";
    fresh->space = tile.space;
    fresh->partitions = geometry_.partitions;
    fresh->offset = (1 + area) * staging_pitch(tile.space);
    fresh->bytes = room;
    fresh->placed = false;  // not of the memory that placement knows
    fresh->pinned = true;
    allocation = adopt(std::move(fresh));
  }
  AccessPattern staged = tile;
  staged.tensor = allocation->id;
  staged.offset = allocation->offset;
  staged.dims = 2;
  staged.sizes = {tile.partitions(), static_cast<std::int32_t>(tile.free_elements())};
  staged.strides = {0, tile.element_bytes()};
  return staged;
}

}  // namespace trnsim::memory
