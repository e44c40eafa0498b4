// The memories of one NeuronCore: SBUF and PSUM of the generation's true size, and the HBM tensors
// it can reach; cores of one launch can share an HBM address space. Holds bytes and knows who wrote
// them; computes nothing and knows no time. Not modelled: ECC, the HBM address map (each HBM tensor
// has storage of its own).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "memory/access_pattern.h"
#include "memory/placement.h"
#include "memory/written.h"

namespace trnsim::memory {

struct Geometry {
  int partitions = kPartitionsMax;
  std::int64_t sbuf_bytes = 0;  // per partition, as far as kernels may use it
  std::int64_t psum_bytes = 0;  // per partition
  std::int64_t psum_bank_bytes = 0;
  bool real_storage = true;  // false: timing only, nothing is ever read or written
  int staging_areas = 0;     // for gathered columns, each as large as the memory itself
};

enum class Overlap : std::uint8_t {
  kShared,   // tensors at overlapping addresses see each other's bytes, as on the chip
  kClobber,  // writing one tensor invalidates the others there: reading them is the kernel's error
};

class Memory;
struct Allocation;

// What the cores of one launch have in common: the numbers that tell their tensors apart, and HBM.
struct AddressSpace {
  std::vector<Allocation*> tensors{nullptr};  // by id, live ones only; id 0 is no tensor
  std::vector<Memory*> memories;              // of the cores, in their order
};

enum class Share { kNone, kSome, kAll };

// One tensor's storage. Lives as long as somebody refers to it; then its bytes are free for the
// next tile.
struct Allocation {
  std::uint32_t id = 0;
  std::string name;
  Space space = Space::kHbm;
  int start_partition = 0;
  int partitions = 1;       // rows; 1 for HBM
  std::int64_t offset = 0;  // bytes within the partition
  std::int64_t bytes = 0;   // per partition (on chip), in all (HBM)
  bool placed = true;       // false: no instruction has touched it yet, or another has its place
  bool explicit_address = false;
  Overlap overlap = Overlap::kShared;
  WrittenMap written{1, 0};
  WrittenMap accumulated{1, 0};  // PSUM: bytes whose last writer was a matmul into this tensor
  WrittenMap clobbered{1, 0};    // bytes that other tensors have overwritten since
  std::uint32_t clobbered_by = 0;
  bool modified = false;          // by an instruction, as opposed to values given by the host
  bool shared = false;            // HBM: every core of the launch reaches it
  const Memory* owner = nullptr;  // of the core that created it; only to be compared
  std::unique_ptr<std::byte[], void (*)(std::byte*)> hbm{nullptr, [](std::byte*) {}};
  std::weak_ptr<Memory> home;
  bool left_out = false;     // an instruction was to write it, but a mask left nothing of it
  bool pinned = false;       // somebody remembers its address
  std::uint32_t places = 0;  // how often it has been given one
  std::uint64_t used = 0;    // the number of the instruction that took it last
  std::unique_ptr<std::byte[]> aside;  // its bytes while another tile has its place

  // Finds room for a tile that an instruction takes. Where none is left, tiles used longest ago
  // give way: for the compiler a tile lives from its first write to its last read, for Python as
  // long as a name refers to it. Throws ProgramError listing the live tensors when that is not
  // enough.
  void ensure_placed(bool others_may_give_way = true);

  ~Allocation();
};

class Memory : public std::enable_shared_from_this<Memory> {
 public:
  explicit Memory(const Geometry& geometry,
                  std::shared_ptr<AddressSpace> space = std::make_shared<AddressSpace>());
  ~Memory();

  // Gives the storage of SBUF and PSUM back: nothing can be read or written any more, sizes and
  // places stay known.
  void close();

  // Called for each tensor that takes its place, and with the id of each that is released.
  std::function<void(const Allocation&)> on_place;
  std::function<void(std::uint32_t)> on_release;

  const Geometry& geometry() const { return geometry_; }

  // shared: the other cores of the address space reach it too.
  std::shared_ptr<Allocation> allocate_hbm(std::string name, std::int64_t bytes,
                                           bool shared = false);
  // Placed by the allocator, at the first use: a name that a loop binds anew holds on to the old
  // tile until the new one exists, and the two need not both have room. Throws ProgramError when it
  // could never fit.
  std::shared_ptr<Allocation> allocate(Space space, std::string name, int partitions,
                                       std::int64_t bytes_per_partition);
  // Placed by the kernel.
  std::shared_ptr<Allocation> allocate_at(Space space, std::string name, int partitions,
                                          std::int64_t bytes_per_partition, int start_partition,
                                          std::int64_t offset, Overlap overlap);

  // First byte of the pattern in host memory, and the host distance from one partition to the next.
  std::byte* data(const AccessPattern& pattern) const;
  std::ptrdiff_t partition_pitch(Space space) const {
    return space == Space::kSbuf ? sbuf_pitch_ : psum_pitch_;
  }

  // Throws ProgramError naming `operand`, the tensor and the first byte that was never written.
  void require_written(const AccessPattern& pattern, const char* operand) const;
  // For an operand on chip that an engine computes with: where only a part of it was never written,
  // that part becomes NaN (all bits set) and the text of a warning is returned, because kernels pad
  // tiles with what does not matter. Throws as above where none of it was written.
  std::optional<std::string> poison_unwritten(const AccessPattern& pattern, const char* operand);
  void mark_written(const AccessPattern& pattern);
  // PSUM only: the accumulate rule needs to know whose bytes these are.
  void mark_accumulated(const AccessPattern& pattern, bool by_matmul);
  bool accumulated(const AccessPattern& pattern) const;  // all of it last written by matmuls
  // How much of it matmuls wrote last through this same tensor; where tensors share bytes, a group
  // of matmuls belongs to one of them.
  Share accumulated_by_itself(const AccessPattern& pattern) const;

  // All of it; what require_written() throws about.
  bool written(const AccessPattern& pattern) const;

  // Indirect tiles name their entry of this table; equal entries are one. 0 is nobody's.
  std::uint16_t intern(const Indirection& indirection);
  const Indirection& indirection(std::uint16_t id) const { return indirections_[id]; }

  // A dense tile like `tile` beside the memory itself: where the columns of an indirect operand
  // stand while the instruction runs.
  AccessPattern staged(const AccessPattern& tile, int area);

  const Allocation& allocation(std::uint32_t id) const { return *tensors_[id]; }
  // False for a tensor of another launch, ended or not.
  bool holds(const Allocation& tensor) const {
    return tensor.id < tensors_.size() && tensors_[tensor.id] == &tensor;
  }
  // False for another core's SBUF, PSUM and private HBM.
  bool reaches(std::uint32_t id) const {
    return tensors_[id]->shared || tensors_[id]->owner == this;
  }
  // Between two instructions.
  void next_instruction() { ++instructions_; }
  // Whether a tile that had given way was used again: then somebody must see to it that all tiles
  // that live at one time would fit.
  bool brought_back() const { return brought_back_; }

  const Placement& placement(Space space) const {
    return space == Space::kSbuf ? sbuf_placement_ : psum_placement_;
  }

 private:
  friend struct Allocation;
  std::shared_ptr<Allocation> adopt(std::unique_ptr<Allocation> allocation);
  std::string live_tensors(Space space) const;
  [[noreturn]] void overflow(const Allocation& allocation) const;
  void place(Allocation& tile, bool others_may_give_way);
  Allocation* unused_for_longest(Space space) const;
  void set_aside(Allocation& tile);
  void copy_rows(const Allocation& tile, std::byte* aside, bool out);
  void release(const Allocation& allocation);
  void forget_shared_bytes(const Allocation& gone);
  const WrittenMap& written_map(const Allocation& tensor) const;
  std::ptrdiff_t staging_pitch(Space space) const;
  void clobber_others(const Allocation& writer, const AccessPattern& pattern);
  Placement& placement_of(Space space) {
    return space == Space::kSbuf ? sbuf_placement_ : psum_placement_;
  }

  Geometry geometry_;
  std::ptrdiff_t sbuf_pitch_;
  std::ptrdiff_t psum_pitch_;
  std::byte* sbuf_ = nullptr;
  std::byte* psum_ = nullptr;
  Placement sbuf_placement_;
  Placement psum_placement_;
  std::shared_ptr<AddressSpace> space_;
  std::vector<Allocation*>& tensors_;  // of the address space
  // Those that share bytes write into the map of the whole memory.
  std::vector<Allocation*> explicit_tensors_;
  WrittenMap shared_sbuf_;
  WrittenMap shared_psum_;
  WrittenMap shared_accumulated_;  // PSUM: last written by a matmul, through whatever tensor
  std::vector<Indirection> indirections_{{}};
  std::map<std::string, std::uint16_t> indirection_ids_;  // by their bytes
  std::map<std::pair<Space, int>, std::shared_ptr<Allocation>> staging_;
  std::vector<Allocation*> movable_;  // placed by the simulator
  std::uint64_t instructions_ = 1;
  bool brought_back_ = false;
};

}  // namespace trnsim::memory
