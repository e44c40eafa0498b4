#include "memory/placement.h"

#include <algorithm>

namespace trnsim::memory {
namespace {

// No public document states the minimum alignment; 32 bytes keeps every dtype aligned and wastes
// little.
constexpr std::int64_t kAlignment = 32;

constexpr std::int64_t round_up(std::int64_t value, std::int64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

std::int64_t Placement::aligned(std::int64_t offset, std::int64_t bytes) const {
  offset = round_up(offset, kAlignment);
  if (bank_bytes_ == 0) return offset;
  const bool straddles = offset / bank_bytes_ != (offset + bytes - 1) / bank_bytes_;
  return straddles ? round_up(offset, bank_bytes_) : offset;
}

std::optional<std::int64_t> Placement::fit(std::int64_t bytes, std::int64_t from,
                                           std::int64_t to) const {
  std::int64_t at = aligned(from, bytes);
  for (const auto& [offset, size] : taken_) {
    if (offset + size <= at) continue;
    if (at + bytes <= offset) break;
    at = aligned(offset + size, bytes);
  }
  return at + bytes <= to ? std::optional(at) : std::nullopt;
}

std::optional<std::int64_t> Placement::place(std::int64_t bytes) {
  // In PSUM each new tile goes to the next bank where it can: matmuls and evictions then work on
  // different banks.
  const std::int64_t start = bank_bytes_ == 0 ? cursor_ : round_up(cursor_, bank_bytes_);
  std::optional<std::int64_t> at = fit(bytes, start, bytes_);
  if (!at) at = fit(bytes, 0, bytes_);
  if (!at) return std::nullopt;
  occupy(*at, bytes);
  cursor_ = *at + bytes;
  if (cursor_ >= bytes_) cursor_ = 0;
  return at;
}

void Placement::occupy(std::int64_t offset, std::int64_t bytes) {
  taken_.emplace(offset, bytes);
  used_ += bytes;
  peak_ = std::max(peak_, used_);
}

void Placement::release(std::int64_t offset, std::int64_t bytes) {
  const auto [first, last] = taken_.equal_range(offset);
  for (auto it = first; it != last; ++it) {
    if (it->second == bytes) {
      taken_.erase(it);
      used_ -= bytes;
      return;
    }
  }
}

}  // namespace trnsim::memory
