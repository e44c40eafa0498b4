// Room on the chip for tiles that the kernel places nowhere: the first place that is free, or that
// of a tile unused for longest.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "memory/memory.h"

namespace trnsim::memory {

void Memory::place(Allocation& tile, bool others_may_give_way) {
  Placement& placed = placement_of(tile.space);
  std::optional<std::int64_t> offset = placed.place(tile.bytes);
  while (!offset && others_may_give_way) {
    Allocation* longest_unused = unused_for_longest(tile.space);
    if (!longest_unused) break;
    set_aside(*longest_unused);
    offset = placed.place(tile.bytes);
  }
  if (!offset) overflow(tile);
  tile.offset = *offset;
  tile.placed = true;
  ++tile.places;
  if (tile.places > 1) {
    brought_back_ = true;
    if (geometry_.real_storage) copy_rows(tile, tile.aside.get(), false);
    tile.aside.reset();
  }
  if (on_place) on_place(tile);
}

// Among the tiles that the instruction being put together does not take. Null where the kernel has
// placed tensors itself: it reckons with their addresses.
Allocation* Memory::unused_for_longest(Space space) const {
  for (const Allocation* tensor : explicit_tensors_) {
    if (tensor->space == space) return nullptr;
  }
  Allocation* found = nullptr;
  for (Allocation* tile : movable_) {
    if (tile->space != space || !tile->placed || tile->pinned || tile->used == instructions_)
      continue;
    if (!found || tile->used < found->used) found = tile;
  }
  return found;
}

void Memory::set_aside(Allocation& tile) {
  if (geometry_.real_storage) {
    tile.aside = std::make_unique<std::byte[]>(tile.partitions * tile.bytes);
    copy_rows(tile, tile.aside.get(), true);
  }
  placement_of(tile.space).release(tile.offset, tile.bytes);
  tile.placed = false;
  if (on_release) on_release(tile.id);
}

void Memory::copy_rows(const Allocation& tile, std::byte* aside, bool out) {
  std::byte* const memory = tile.space == Space::kSbuf ? sbuf_ : psum_;
  for (int row = 0; row < tile.partitions; ++row) {
    std::byte* const at =
        memory + (tile.start_partition + row) * partition_pitch(tile.space) + tile.offset;
    std::byte* const kept = aside + row * tile.bytes;
    std::memcpy(out ? kept : at, out ? at : kept, tile.bytes);
  }
}

void Memory::overflow(const Allocation& allocation) const {
  const Placement& placed = placement(allocation.space);
  program_error("memory.capacity",
                "{} overflow: tile '{}' needs {} bytes in each partition, but of {} bytes only {} "
                "are free and "
                "no gap is large enough. Live tensors, largest first: {}. Free tiles earlier "
                "(smaller blocks, "
                "`del`) or tile the free dimension.",
                space_name(allocation.space), allocation.name, allocation.bytes, placed.bytes(),
                std::max<std::int64_t>(0, placed.bytes() - placed.used()),
                live_tensors(allocation.space));
}

void Allocation::ensure_placed(bool others_may_give_way) {
  if (space == Space::kHbm || explicit_address) return;
  const auto memory = home.lock();
  if (!memory) {
    if (placed) return;
    program_error("tensor.freed", "tensor '{}' belongs to a kernel launch that has ended", name);
  }
  used = memory->instructions_;
  if (!placed) memory->place(*this, others_may_give_way);
}

std::string Memory::live_tensors(Space space) const {
  std::vector<const Allocation*> live;
  for (const Allocation* tensor : tensors_) {
    if (tensor && tensor->owner == this && tensor->space == space && tensor->placed)
      live.push_back(tensor);
  }
  std::stable_sort(live.begin(), live.end(),
                   [](const auto* a, const auto* b) { return a->bytes > b->bytes; });
  std::string text;
  constexpr std::size_t kShown = 12;
  for (std::size_t i = 0; i < std::min(live.size(), kShown); ++i) {
    text += fmt::format("{}{} [{} x {} B at {}]", i ? ", " : "", live[i]->name, live[i]->partitions,
                        live[i]->bytes, live[i]->offset);
  }
  if (live.size() > kShown) text += fmt::format(" and {} more", live.size() - kShown);
  return live.empty() ? "none" : text;
}

}  // namespace trnsim::memory
