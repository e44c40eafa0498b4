#include "memory/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "base/error.h"

namespace trnsim::memory {
namespace {

// Rows of a tile then fall into different cache sets of the host, and a row just stored never
// shares its low address bits with one about to be loaded, which the host would take for a
// dependency.
constexpr std::ptrdiff_t kHostPitchPad = 27 * 64;

// Storage of on-chip memories that are no longer in use, kept for the next one: a script may launch
// thousands of kernels. What lies in it is never seen, since bytes count as unwritten until an
// instruction writes them.
class StoragePool {
 public:
  std::byte* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto it = free_.find(bytes);
    if (it != free_.end()) {
      std::byte* at = it->second;
      free_.erase(it);
      return at;
    }
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
      config_error("the host has no {} MiB of memory left for the simulated memories", bytes >> 20);
    madvise(at, bytes, MADV_HUGEPAGE);
    return static_cast<std::byte*>(at);
  }

  void give_back(std::byte* at, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (free_.count(bytes) < kKept) {
      free_.emplace(bytes, at);
    } else {
      munmap(at, bytes);
    }
  }

 private:
  static constexpr std::size_t kKept = 2;  // per size
  std::mutex mutex_;
  std::multimap<std::size_t, std::byte*> free_;
};

StoragePool& storage_pool() {
  static StoragePool pool;
  return pool;
}

AccessPattern whole(const Allocation& a) {
  AccessPattern pattern;
  pattern.space = a.space;
  pattern.dtype = numerics::Dtype::kUint8;
  pattern.start_partition = static_cast<std::uint16_t>(a.start_partition);
  pattern.offset = a.offset;
  pattern.dims = 2;
  pattern.sizes = {a.partitions, static_cast<std::int32_t>(a.bytes)};
  pattern.strides = {0, 1};
  return pattern;
}

// What of a tensor lies within the extent of a pattern that reaches beyond it, byte by byte.
AccessPattern cut_to(AccessPattern tensor, const AccessPattern& pattern, const Extent& extent) {
  const std::int64_t end = tensor.offset + tensor.sizes[1];
  tensor.offset = std::max(extent.low, tensor.offset);
  tensor.sizes[1] = static_cast<std::int32_t>(std::min(extent.high, end) - tensor.offset);
  const int first = std::max<int>(pattern.start_partition, tensor.start_partition);
  const int last = std::min(pattern.start_partition + pattern.partitions(),
                            tensor.start_partition + tensor.partitions());
  tensor.start_partition = static_cast<std::uint16_t>(first);
  tensor.sizes[0] = last - first;
  return tensor;
}

bool shares_bytes(const Allocation& tensor) {
  return tensor.explicit_address && tensor.overlap == Overlap::kShared;
}

}  // namespace

Allocation::~Allocation() {
  if (const auto memory = home.lock()) memory->release(*this);
}

Memory::Memory(const Geometry& geometry, std::shared_ptr<AddressSpace> space)
    : geometry_(geometry),
      sbuf_pitch_(geometry.sbuf_bytes + kHostPitchPad),
      psum_pitch_(geometry.psum_bytes + kHostPitchPad),
      sbuf_placement_(geometry.sbuf_bytes, 0),
      psum_placement_(geometry.psum_bytes, geometry.psum_bank_bytes),
      space_(std::move(space)),
      tensors_(space_->tensors),
      shared_sbuf_(geometry.partitions, geometry.sbuf_bytes),
      shared_psum_(geometry.partitions, geometry.psum_bytes),
      shared_accumulated_(geometry.partitions, geometry.psum_bytes) {
  space_->memories.push_back(this);
  if (!geometry.real_storage) return;
  sbuf_ = storage_pool().take((1 + geometry.staging_areas) * staging_pitch(Space::kSbuf));
  psum_ = storage_pool().take((1 + geometry.staging_areas) * staging_pitch(Space::kPsum));
}

Memory::~Memory() {
  close();
  std::erase(space_->memories, this);
}

void Memory::close() {
  const int areas = 1 + geometry_.staging_areas;
  if (sbuf_) storage_pool().give_back(sbuf_, areas * staging_pitch(Space::kSbuf));
  if (psum_) storage_pool().give_back(psum_, areas * staging_pitch(Space::kPsum));
  sbuf_ = psum_ = nullptr;
  geometry_.real_storage = false;
}

std::shared_ptr<Allocation> Memory::adopt(std::unique_ptr<Allocation> allocation) {
  allocation->id = static_cast<std::uint32_t>(tensors_.size());
  allocation->home = weak_from_this();
  allocation->owner = this;
  allocation->written = WrittenMap(allocation->partitions, allocation->bytes);
  allocation->accumulated = WrittenMap(allocation->partitions, allocation->bytes);
  allocation->clobbered = WrittenMap(allocation->partitions, allocation->bytes);
  if (allocation->name.empty()) allocation->name = fmt::format("t{}", allocation->id);
  tensors_.push_back(allocation.get());
  if (allocation->explicit_address) explicit_tensors_.push_back(allocation.get());
  if (!allocation->placed) movable_.push_back(allocation.get());
  if (!allocation->placed) return allocation;
  for (Memory* memory : space_->memories) {
    if ((memory == this || allocation->shared) && memory->on_place) memory->on_place(*allocation);
  }
  return allocation;
}

std::shared_ptr<Allocation> Memory::allocate_hbm(std::string name, std::int64_t bytes,
                                                 bool shared) {
  auto allocation = std::make_unique<Allocation>();
  allocation->name = std::move(name);
  allocation->space = Space::kHbm;
  allocation->bytes = bytes;
  allocation->shared = shared;
  if (geometry_.real_storage) {
    const auto free_bytes = [](std::byte* p) { std::free(p); };
    allocation->hbm = {static_cast<std::byte*>(std::calloc(std::max<std::size_t>(bytes, 1), 1)),
                       free_bytes};
    if (!allocation->hbm)
      config_error("the host has no {} MiB of memory left for an HBM tensor", bytes >> 20);
  }
  return adopt(std::move(allocation));
}

std::shared_ptr<Allocation> Memory::allocate(Space space, std::string name, int partitions,
                                             std::int64_t bytes_per_partition) {
  auto allocation = std::make_unique<Allocation>();
  allocation->name = std::move(name);
  allocation->space = space;
  allocation->partitions = partitions;
  allocation->bytes = bytes_per_partition;
  allocation->placed = false;
  std::shared_ptr<Allocation> adopted = adopt(std::move(allocation));
  if (bytes_per_partition > placement(space).bytes()) overflow(*adopted);
  return adopted;
}

std::shared_ptr<Allocation> Memory::allocate_at(Space space, std::string name, int partitions,
                                                std::int64_t bytes_per_partition,
                                                int start_partition, std::int64_t offset,
                                                Overlap overlap) {
  Placement& placed = placement_of(space);
  if (offset < 0 || offset + bytes_per_partition > placed.bytes()) {
    program_error(
        "memory.address",
        "tensor '{}' at byte {} of the partition needs {} bytes, but a {} partition has {} bytes",
        name, offset, bytes_per_partition, space_name(space), placed.bytes());
  }
  if (start_partition < 0 || start_partition + partitions > geometry_.partitions) {
    program_error("memory.address", "tensor '{}' at partitions {} to {}: {} has partitions 0 to {}",
                  name, start_partition, start_partition + partitions - 1, space_name(space),
                  geometry_.partitions - 1);
  }
  for (const Allocation* tile : tensors_) {
    if (!tile || tile->owner != this || tile->space != space) continue;
    if (!tile->placed || tile->explicit_address) continue;
    const bool apart =
        offset >= tile->offset + tile->bytes || tile->offset >= offset + bytes_per_partition;
    if (!apart && start_partition < tile->partitions) {
      program_error(
          "memory.address",
          "tensor '{}' at byte {} of the partition lies over tile '{}', which was placed "
          "automatically at byte "
          "{} and is still in use. Create tensors with addresses first, or give every tile one.",
          name, offset, tile->name, tile->offset);
    }
  }
  placed.occupy(offset, bytes_per_partition);
  auto allocation = std::make_unique<Allocation>();
  allocation->name = std::move(name);
  allocation->space = space;
  allocation->start_partition = start_partition;
  allocation->partitions = partitions;
  allocation->offset = offset;
  allocation->bytes = bytes_per_partition;
  allocation->explicit_address = true;
  allocation->overlap = overlap;
  return adopt(std::move(allocation));
}

void Memory::release(const Allocation& allocation) {
  tensors_[allocation.id] = nullptr;
  for (Memory* memory : space_->memories) {
    if ((memory == this || allocation.shared) && memory->on_release)
      memory->on_release(allocation.id);
  }
  std::erase(allocation.explicit_address ? explicit_tensors_ : movable_, &allocation);
  if (allocation.explicit_address) forget_shared_bytes(allocation);
  if (allocation.space != Space::kHbm && allocation.placed)
    placement_of(allocation.space).release(allocation.offset, allocation.bytes);
}

std::byte* Memory::data(const AccessPattern& pattern) const {
  switch (pattern.space) {
    case Space::kSbuf:
      return sbuf_ + pattern.start_partition * sbuf_pitch_ + pattern.offset;
    case Space::kPsum:
      return psum_ + pattern.start_partition * psum_pitch_ + pattern.offset;
    case Space::kHbm:
      break;
  }
  return tensors_[pattern.tensor]->hbm.get() + pattern.offset;
}

void Memory::require_written(const AccessPattern& pattern, const char* operand) const {
  const Allocation& tensor = *tensors_[pattern.tensor];
  if (tensor.written.all()) return;
  const bool shared = shares_bytes(tensor);
  const WrittenMap& map = written_map(tensor);
  const auto missing = shared ? map.first_unwritten(pattern, 0, 0)
                              : map.first_unwritten(pattern, tensor.start_partition, tensor.offset);
  if (!missing) return;
  if (const auto lost =
          tensor.clobbered.first_written(pattern, tensor.start_partition, tensor.offset)) {
    const Allocation* culprit = tensors_[tensor.clobbered_by];
    program_error("memory.clobbered",
                  "{} reads tensor '{}' at partition {}, byte {}, but those bytes were overwritten "
                  "through tensor '{}', which "
                  "was placed at an overlapping address. Give the two tensors disjoint addresses.",
                  operand, tensor.name, lost->row, lost->byte, culprit ? culprit->name : "(freed)");
  }
  program_error("memory.never_written",
                "{} reads {} tensor '{}' at partition {}, byte {}, which was never written. "
                "Initialise it (memset, load) or "
                "read only the part that was.",
                operand, space_name(tensor.space), tensor.name, missing->row, missing->byte);
}

const WrittenMap& Memory::written_map(const Allocation& tensor) const {
  if (!shares_bytes(tensor)) return tensor.written;
  return tensor.space == Space::kSbuf ? shared_sbuf_ : shared_psum_;
}

bool Memory::written(const AccessPattern& pattern) const {
  const Allocation& tensor = *tensors_[pattern.tensor];
  const WrittenMap& map = written_map(tensor);
  const bool shared = shares_bytes(tensor);
  return map.all() || !map.first_unwritten(pattern, shared ? 0 : tensor.start_partition,
                                           shared ? 0 : tensor.offset);
}

std::optional<std::string> Memory::poison_unwritten(const AccessPattern& pattern,
                                                    const char* operand) {
  const Allocation& tensor = *tensors_[pattern.tensor];
  if (tensor.written.all()) return std::nullopt;
  const WrittenMap& map = written_map(tensor);
  const int row = shares_bytes(tensor) ? 0 : tensor.start_partition;
  const std::int64_t byte = shares_bytes(tensor) ? 0 : tensor.offset;
  const auto missing = map.first_unwritten(pattern, row, byte);
  if (!missing) return std::nullopt;
  const bool nothing = !tensor.left_out && !map.any_written(pattern, row, byte);
  if (nothing || tensor.clobbered.any_written(pattern, tensor.start_partition, tensor.offset))
    require_written(pattern, operand);
  if (geometry_.real_storage) {
    std::byte* const base = tensor.space == Space::kSbuf ? sbuf_ : psum_;
    map.for_each_unwritten(pattern, row, byte, [&](WrittenMap::Position at) {
      base[(at.row + row) * partition_pitch(tensor.space) + at.byte + byte] = std::byte{0xff};
    });
  }
  return fmt::format(
      "{} reads {} tensor '{}', of which a part was never written (first at partition {}, byte "
      "{}); "
      "that part counts as NaN. If it matters, initialise it (memset, load); if not, leave it out.",
      operand, space_name(tensor.space), tensor.name, missing->row, missing->byte);
}

void Memory::mark_written(const AccessPattern& pattern) {
  Allocation& tensor = *tensors_[pattern.tensor];
  tensor.modified = true;
  if (!tensor.explicit_address) {
    tensor.written.mark(pattern, tensor.start_partition, tensor.offset);
  } else if (tensor.overlap == Overlap::kShared) {
    (tensor.space == Space::kSbuf ? shared_sbuf_ : shared_psum_).mark(pattern, 0, 0);
  } else {
    tensor.written.mark(pattern, tensor.start_partition, tensor.offset);
    tensor.clobbered.clear(pattern, tensor.start_partition, tensor.offset);
    clobber_others(tensor, pattern);
  }
}

namespace {

// Of another tensor what the pattern covers.
AccessPattern covered(const Allocation& other, const AccessPattern& pattern) {
  const Extent extent = extent_of(pattern);
  const bool inside =
      extent.low >= other.offset && extent.high <= other.offset + other.bytes &&
      pattern.start_partition >= other.start_partition &&
      pattern.start_partition + pattern.partitions() <= other.start_partition + other.partitions;
  return inside ? pattern : cut_to(whole(other), pattern, extent);
}

// The bytes of one dense tile that are not in another, as up to four tiles.
void cut_out(const AccessPattern& tile, const AccessPattern& taken,
             std::vector<AccessPattern>& left) {
  if (!overlaps(tile, taken)) return left.push_back(tile);
  const auto keep = [&](int first_row, int end_row, std::int64_t first, std::int64_t end) {
    if (first_row >= end_row || first >= end) return;
    AccessPattern piece = tile;
    piece.start_partition = static_cast<std::uint16_t>(first_row);
    piece.offset = first;
    piece.sizes = {end_row - first_row, static_cast<std::int32_t>(end - first)};
    left.push_back(piece);
  };
  const int top = tile.start_partition, bottom = top + tile.sizes[0];
  const int first_row = std::max<int>(top, taken.start_partition),
            end_row = std::min(bottom, taken.start_partition + taken.sizes[0]);
  const std::int64_t begin = tile.offset, end = begin + tile.sizes[1];
  keep(top, first_row, begin, end);
  keep(end_row, bottom, begin, end);
  keep(first_row, end_row, begin, std::max(begin, taken.offset));
  keep(first_row, end_row, std::min(end, taken.offset + taken.sizes[1]), end);
}

}  // namespace

// What was written through a tensor is known no longer than the tensor lives: one that is placed
// there later begins unwritten. Where others that live share its bytes, they keep them.
void Memory::forget_shared_bytes(const Allocation& gone) {
  if (!shares_bytes(gone)) return;
  std::vector<AccessPattern> pieces{whole(gone)};
  for (const Allocation* other : explicit_tensors_) {
    if (other->space != gone.space || !shares_bytes(*other)) continue;
    std::vector<AccessPattern> left;
    for (const AccessPattern& piece : pieces) cut_out(piece, whole(*other), left);
    pieces = std::move(left);
  }
  for (const AccessPattern& piece : pieces) {
    (gone.space == Space::kSbuf ? shared_sbuf_ : shared_psum_).clear(piece, 0, 0);
    if (gone.space == Space::kPsum) shared_accumulated_.clear(piece, 0, 0);
  }
}

void Memory::clobber_others(const Allocation& writer, const AccessPattern& pattern) {
  for (Allocation* other : explicit_tensors_) {
    if (other == &writer || other->space != writer.space || other->overlap != Overlap::kClobber ||
        other->written.none() || !overlaps(pattern, whole(*other))) {
      continue;
    }
    const AccessPattern lost = covered(*other, pattern);
    other->written.clear(lost, other->start_partition, other->offset);
    other->clobbered.mark(lost, other->start_partition, other->offset);
    other->clobbered_by = writer.id;
  }
}

void Memory::mark_accumulated(const AccessPattern& pattern, bool by_matmul) {
  Allocation& tensor = *tensors_[pattern.tensor];
  const auto change = [&](WrittenMap& map, int row, std::int64_t byte) {
    if (by_matmul) {
      map.mark(pattern, row, byte);
    } else {
      map.clear(pattern, row, byte);
    }
  };
  change(tensor.accumulated, tensor.start_partition, tensor.offset);
  if (!shares_bytes(tensor)) return;
  change(shared_accumulated_, 0, 0);
  for (Allocation* other : explicit_tensors_) {
    if (other == &tensor || other->accumulated.none() || other->space != Space::kPsum ||
        !overlaps(pattern, whole(*other))) {
      continue;
    }
    other->accumulated.clear(covered(*other, pattern), other->start_partition, other->offset);
  }
}

bool Memory::accumulated(const AccessPattern& pattern) const {
  const Allocation& tensor = *tensors_[pattern.tensor];
  if (!shares_bytes(tensor)) return accumulated_by_itself(pattern) == Share::kAll;
  return !shared_accumulated_.first_unwritten(pattern, 0, 0);
}

Share Memory::accumulated_by_itself(const AccessPattern& pattern) const {
  const Allocation& tensor = *tensors_[pattern.tensor];
  const WrittenMap& map = tensor.accumulated;
  if (map.all()) return Share::kAll;
  if (map.none() || !map.any_written(pattern, tensor.start_partition, tensor.offset))
    return Share::kNone;
  return map.first_unwritten(pattern, tensor.start_partition, tensor.offset) ? Share::kSome
                                                                             : Share::kAll;
}

}  // namespace trnsim::memory
