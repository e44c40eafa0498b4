// Automatic placement of tiles in SBUF or PSUM by lifetime: a tile occupies its bytes, in every
// partition, from the moment it is created until the last reference to it goes. Next-fit: freed
// space is reused as late as possible, so that a tile written now rarely waits for the readers of
// the tile that lay there before. That is what lets loads run ahead of compute, as a compiler's
// rotation would.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace trnsim::memory {

class Placement {
 public:
  // bank_bytes: tiles no larger than a bank do not straddle two, larger ones start at a bank; 0
  // where there are none.
  Placement(std::int64_t bytes, std::int64_t bank_bytes) : bytes_(bytes), bank_bytes_(bank_bytes) {}

  // Byte offset within the partition; nullopt when no gap is large enough.
  std::optional<std::int64_t> place(std::int64_t bytes);
  void occupy(std::int64_t offset, std::int64_t bytes);  // explicit address; may overlap others
  void release(std::int64_t offset, std::int64_t bytes);

  std::int64_t bytes() const { return bytes_; }
  std::int64_t used() const { return used_; }
  std::int64_t peak() const { return peak_; }

 private:
  std::optional<std::int64_t> fit(std::int64_t bytes, std::int64_t from, std::int64_t to) const;
  std::int64_t aligned(std::int64_t offset, std::int64_t bytes) const;

  std::int64_t bytes_;
  std::int64_t bank_bytes_;
  std::int64_t cursor_ = 0;
  std::int64_t used_ = 0;
  std::int64_t peak_ = 0;
  std::multimap<std::int64_t, std::int64_t> taken_;  // offset -> bytes
};

}  // namespace trnsim::memory
