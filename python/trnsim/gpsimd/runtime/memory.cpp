// The memories of an operator's process: an arena that stands for HBM, one for the pool of TCM, and
// the stack. The operator's code is compiled so that each of its loads and stores comes by here
// (as for a thread sanitizer); the address says what it touches, whether it may, and what it costs.
#include <string.h>
#include <sys/mman.h>

#include <algorithm>

#include "runtime.h"

namespace trnsim_gpsimd {

Settings settings;
Counts counts;
Mode mode = Mode::kIdle;

namespace {

struct Block {
  char* begin;
  int64_t size;
  bool live, input;
  std::vector<uint8_t> written;  // a byte for each byte
  const char* what;
};

// Blocks in ascending order, with room between them that is never theirs.
class Arena {
 public:
  explicit Arena(int64_t reserved) : reserved_(reserved) {}

  bool holds(const char* p) const { return p >= base_ && p < base_ + reserved_; }

  Block& allocate(int64_t size, const char* what) {
    if (!base_) {
      void* p = mmap(nullptr, static_cast<size_t>(reserved_), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (p == MAP_FAILED) fault("gpsimd.memory", "the host has no address space for the tensors");
      base_ = static_cast<char*>(p);
    }
    const int64_t room = (size + kPage - 1) / kPage * kPage;
    if (used_ + room + kGap > reserved_)
      fault("gpsimd.memory", text("%s of %lld bytes does not fit into HBM beside the others", what,
                                  static_cast<long long>(size)));
    char* begin = base_ + used_ + kGap / 2;
    used_ += room + kGap;
    if (room && mprotect(begin, static_cast<size_t>(room), PROT_READ | PROT_WRITE) != 0)
      fault("gpsimd.memory", text("the host has no %lld bytes left", static_cast<long long>(size)));
    blocks_.push_back({begin, size, true, false, {}, what});
    return blocks_.back();
  }

  void release(Block& block) {
    block.live = false;
    block.written = {};
    const int64_t room = (block.size + kPage - 1) / kPage * kPage;
    if (room) {
      madvise(block.begin, static_cast<size_t>(room), MADV_DONTNEED);
      mprotect(block.begin, static_cast<size_t>(room), PROT_NONE);
    }
  }

  // The last block that begins at or before an address, or the first.
  Block* near(const char* p) {
    if (blocks_.empty()) return nullptr;
    if (last_ < blocks_.size() && p >= blocks_[last_].begin &&
        (last_ + 1 == blocks_.size() || p < blocks_[last_ + 1].begin))
      return &blocks_[last_];
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), p,
                                        [](const char* a, const Block& b) { return a < b.begin; });
    last_ = after == blocks_.begin() ? 0 : static_cast<size_t>(after - blocks_.begin()) - 1;
    return &blocks_[last_];
  }

  void clear() {
    if (base_) munmap(base_, static_cast<size_t>(reserved_));
    base_ = nullptr;
    used_ = 0;
    blocks_.clear();
  }

 private:
  static constexpr int64_t kPage = 4096, kGap = 64 * kPage;
  int64_t reserved_, used_ = 0;
  char* base_ = nullptr;
  std::vector<Block> blocks_;
  size_t last_ = 0;
};

Arena hbm(int64_t{1} << 42), tcm(int64_t{1} << 36);
int64_t tcm_used = 0;
std::string tcm_refused;  // the allocation that got null
const char* stack_top = nullptr;

long long as_printed(int64_t value) { return static_cast<long long>(value); }

void check_inside(const Block& block, const char* p, int64_t size, bool write) {
  const bool in_tcm = tcm.holds(p);
  const char* const rule = in_tcm ? "gpsimd.tcm_bounds" : "gpsimd.bounds";
  const char* const verb = write ? "writes" : "reads";
  if (!block.live)
    fault(in_tcm ? "gpsimd.tcm_freed" : "gpsimd.freed",
          text("%s %s that was freed", verb, block.what));
  if (p >= block.begin && p + size <= block.begin + block.size) return;
  const int64_t offset = p - block.begin;
  if (offset < 0)
    fault(rule, text("%s %lld bytes before the first of %s of %lld bytes", verb,
                     as_printed(-offset), block.what, as_printed(block.size)));
  fault(rule, text("%s bytes %lld to %lld of %s, which has %lld", verb, as_printed(offset),
                   as_printed(offset + size - 1), block.what, as_printed(block.size)));
}

void touch(Block& block, const char* p, int64_t size, bool write) {
  check_inside(block, p, size, write);
  const int64_t first = p - block.begin;
  if (write) {
    if (block.input)
      fault("gpsimd.input",
            "writes to a tensor that was passed in; a result goes to a tensor of the operator's");
    memset(block.written.data() + first, 1, static_cast<size_t>(size));
  } else if (!block.input && memchr(block.written.data() + first, 0, static_cast<size_t>(size))) {
    fault("gpsimd.unwritten", text("reads an element of %s that was never written", block.what));
  }
}

void instrumented(const void* address, int64_t size, bool write) {
  const char* p = static_cast<const char*>(address);
  if (mode != Mode::kKernel) return;
  if (hbm.holds(p)) {
    touch(*hbm.near(p), p, size, write);
    ++counts.element_accesses;
    return;
  }
  if (tcm.holds(p)) {
    touch(*tcm.near(p), p, size, write);
  } else if (p < stack_top && stack_top - p < (int64_t{1} << 23)) {
    counts.stack_bytes = std::max<int64_t>(counts.stack_bytes, stack_top - p);
    if (settings.stack_in_hbm) ++counts.element_accesses;
  }
  ++counts.accesses;
}

}  // namespace

void watch_stack(const void* top) { stack_top = static_cast<const char*>(top); }

torch::Tensor new_tensor(c10::ScalarType type, const std::vector<int64_t>& sizes,
                         const char* data) {
  auto* storage = new Storage;
  storage->type = type;
  storage->sizes = sizes;
  storage->strides.resize(sizes.size());
  int64_t elements = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] < 0)
      fault("gpsimd.shape", "a tensor of shape " + text(sizes) + " has a negative size");
    storage->strides[i] = elements;
    if (__builtin_mul_overflow(elements, sizes[i], &elements))
      fault("gpsimd.shape", "a tensor of shape " + text(sizes) + " is larger than any memory");
  }
  storage->elements = elements;
  int64_t most = 0;
  for (const int64_t size : sizes) most = std::max(most, size);
  if (sizes.size() > 8 || (sizes.size() > 4 && most > 65535) || most > 4294967295)
    fault("gpsimd.shape", "a tensor of shape " + text(sizes) +
                              "; there are up to 8 dimensions of 65535 or 4 of 4294967295");
  if (mode != Mode::kShape) {
    Block& block = hbm.allocate(elements * c10::element_bytes(type), "a tensor");
    storage->data = block.begin;
    storage->input = block.input = data != nullptr;
    if (data) {
      memcpy(block.begin, data, static_cast<size_t>(block.size));
    } else {
      block.written.resize(static_cast<size_t>(block.size));
    }
  }
  return torch::Tensor(storage);
}

void release_tensor(Storage* storage) {
  Block* block = storage->data ? hbm.near(storage->data) : nullptr;
  if (block && block->begin == storage->data) hbm.release(*block);
  delete storage;
}

const std::vector<uint8_t>& written_bytes(const Storage& storage) {
  return hbm.near(storage.data)->written;
}

void require_readable(const Storage& storage, int64_t first_byte, int64_t bytes) {
  if (bytes) touch(*hbm.near(storage.data), storage.data + first_byte, bytes, false);
}

void mark_written(Storage& storage, int64_t first_byte, int64_t bytes) {
  if (bytes) touch(*hbm.near(storage.data), storage.data + first_byte, bytes, true);
}

void transfer(int64_t bytes) {
  ++counts.transfers;
  counts.transfer_bytes += bytes;
}

void forget_memory() {
  hbm.clear();
  tcm.clear();
  tcm_used = 0;
  tcm_refused.clear();
}

std::string describe_address(const void* address) {
  const char* p = static_cast<const char*>(address);
  if (reinterpret_cast<uintptr_t>(p) < 65536 && !tcm_refused.empty()) return tcm_refused;
  if (reinterpret_cast<uintptr_t>(p) < 65536) return "a null pointer is followed";
  return "an address that is not the operator's is accessed, or the stack has overflowed";
}

namespace {

// The TCM block at tcm_ptr, with room for count elements behind it.
Block& tcm_block(const void* pointer, int64_t bytes, bool write) {
  const char* p = static_cast<const char*>(pointer);
  if (!p) fault("gpsimd.tcm_pointer", tcm_refused.empty() ? "tcm_ptr is null" : tcm_refused);
  if (!tcm.holds(p))
    fault("gpsimd.tcm_pointer", "tcm_ptr does not come from torch::neuron::tcm_malloc");
  Block& block = *tcm.near(p);
  check_inside(block, p, bytes, write);
  return block;
}

int64_t check_part(const Storage& storage, int64_t first, int64_t count, c10::ScalarType type) {
  if (type != storage.type)
    fault("gpsimd.dtype", text("the elements are %s, the tensor's are %s", c10::name(type),
                               c10::name(storage.type)));
  if (first < 0 || count < 0 || first + count > storage.elements)
    fault("gpsimd.bounds", text("elements %lld to %lld of a tensor with %lld", as_printed(first),
                                as_printed(first + count - 1), as_printed(storage.elements)));
  return count * c10::element_bytes(type);
}

}  // namespace

void load(const Storage& storage, void* pointer, int64_t first, int64_t count,
          c10::ScalarType type) {
  const int64_t bytes = check_part(storage, first, count, type);
  if (count == 0) return;
  Block& block = tcm_block(pointer, bytes, true);
  const int64_t from = first * c10::element_bytes(type);
  require_readable(storage, from, bytes);
  memcpy(pointer, storage.data + from, static_cast<size_t>(bytes));
  touch(block, static_cast<char*>(pointer), bytes, true);
  transfer(bytes);
}

void store(Storage& storage, const void* pointer, int64_t first, int64_t count,
           c10::ScalarType type) {
  const int64_t bytes = check_part(storage, first, count, type);
  if (count == 0) return;
  Block& block = tcm_block(pointer, bytes, false);
  touch(block, static_cast<const char*>(pointer), bytes, false);
  const int64_t to = first * c10::element_bytes(type);
  mark_written(storage, to, bytes);
  memcpy(storage.data + to, pointer, static_cast<size_t>(bytes));
  transfer(bytes);
}

bool reserve_stream_buffer() {
  if (tcm_used + settings.stream_buffer_bytes > settings.pool_bytes) return false;
  tcm_used += settings.stream_buffer_bytes;
  return true;
}

void release_stream_buffer() { tcm_used -= settings.stream_buffer_bytes; }

}  // namespace trnsim_gpsimd

namespace torch {
namespace neuron {

using namespace trnsim_gpsimd;

void* tcm_malloc(size_t nbytes) {
  const int64_t size = (static_cast<int64_t>(nbytes) + 15) / 16 * 16;
  if (nbytes > (size_t{1} << 40) || tcm_used + size > settings.pool_bytes) {
    tcm_refused = text(
        "tcm_malloc of %zu bytes returned null: %lld of the %lld bytes of TCM are "
        "free",
        nbytes, as_printed(settings.pool_bytes - tcm_used), as_printed(settings.pool_bytes));
    return nullptr;
  }
  tcm_used += size;
  Block& block = tcm.allocate(static_cast<int64_t>(nbytes), "a TCM buffer");
  block.written.resize(nbytes);
  return block.begin;
}

void tcm_free(void* ptr) {
  if (!ptr) return;
  Block* block = tcm.holds(static_cast<char*>(ptr)) ? tcm.near(static_cast<char*>(ptr)) : nullptr;
  if (!block || block->begin != ptr)
    fault("gpsimd.tcm_pointer", "tcm_free of what tcm_malloc did not return");
  if (!block->live) fault("gpsimd.tcm_freed", "tcm_free of a TCM buffer that was freed");
  tcm_used -= (block->size + 15) / 16 * 16;
  tcm.release(*block);
}

}  // namespace neuron
}  // namespace torch

// ---- What the compiler calls for each access and each stretch of code.

using trnsim_gpsimd::instrumented;

extern "C" {

#define TRNSIM_ACCESSES(size)                                                          \
  void __tsan_read##size(void* p) { instrumented(p, size, false); }                    \
  void __tsan_write##size(void* p) { instrumented(p, size, true); }                    \
  void __tsan_unaligned_read##size(void* p) { instrumented(p, size, false); }          \
  void __tsan_unaligned_write##size(void* p) { instrumented(p, size, true); }          \
  void __tsan_volatile_read##size(void* p) { instrumented(p, size, false); }           \
  void __tsan_volatile_write##size(void* p) { instrumented(p, size, true); }           \
  void __tsan_unaligned_volatile_read##size(void* p) { instrumented(p, size, false); } \
  void __tsan_unaligned_volatile_write##size(void* p) { instrumented(p, size, true); }
TRNSIM_ACCESSES(1)
TRNSIM_ACCESSES(2)
TRNSIM_ACCESSES(4)
TRNSIM_ACCESSES(8)
TRNSIM_ACCESSES(16)

void __tsan_read_range(void* p, unsigned long size) {
  if (size) instrumented(p, static_cast<int64_t>(size), false);
}
void __tsan_write_range(void* p, unsigned long size) {
  if (size) instrumented(p, static_cast<int64_t>(size), true);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __sanitizer_cov_trace_pc() { ++trnsim_gpsimd::counts.stretches; }

// Copies and fills by the C library, which the operator's code calls by these names: accesses of 64
// bytes each, the width of a vector.
static void wide(const void* p, size_t size, bool write) {
  const char* at = static_cast<const char*>(p);
  for (size_t done = 0; done < size; done += 64)
    instrumented(at + done, static_cast<int64_t>(size - done < 64 ? size - done : 64), write);
}
void* trnsim_memcpy(void* to, const void* from, size_t size) {
  wide(from, size, false);
  wide(to, size, true);
  return memcpy(to, from, size);
}
void* trnsim_memmove(void* to, const void* from, size_t size) {
  wide(from, size, false);
  wide(to, size, true);
  return memmove(to, from, size);
}
void* trnsim_memset(void* to, int value, size_t size) {
  wide(to, size, true);
  return memset(to, value, size);
}

}  // extern "C"
