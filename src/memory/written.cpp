#include "memory/written.h"

#include <algorithm>
#include <bit>

#include "memory/access_pattern.h"

namespace trnsim::memory {
namespace {

// Calls fn(row, first byte, byte count) for each contiguous stretch of the pattern.
template <class Fn>
void for_each_stretch(const AccessPattern& pattern, int first_row, std::int64_t first_byte,
                      Fn&& fn) {
  const Walk walk = walk_of(pattern);
  const int bytes = pattern.element_bytes();
  const bool inner_dense = walk.inner_size() == 1 || walk.inner_stride() == bytes;
  const int rows = pattern.on_chip() ? pattern.partitions() : 1;
  const int row0 = pattern.on_chip() ? pattern.start_partition - first_row : 0;
  for (int row = row0; row < row0 + rows; ++row) {
    for_each_run(walk, pattern.offset - first_byte, [&](std::int64_t start) {
      if (inner_dense) {
        fn(row, start, walk.inner_size() * bytes);
      } else {
        for (std::int64_t i = 0; i < walk.inner_size(); ++i)
          fn(row, start + i * walk.inner_stride(), bytes);
      }
    });
  }
}

constexpr std::uint64_t mask_of(int from, int to) {  // bits [from, to), to <= 64
  return (to == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << to) - 1) &
         ~((std::uint64_t{1} << from) - 1);
}

// Calls fn(word, mask) for the bits [start, start + count) of a row.
template <class Fn>
void for_each_word(std::int64_t start, std::int64_t count, Fn&& fn) {
  const std::int64_t end = start + count;
  for (std::int64_t word = start / 64; word * 64 < end; ++word) {
    const int from = static_cast<int>(std::max<std::int64_t>(start - word * 64, 0));
    const int to = static_cast<int>(std::min<std::int64_t>(end - word * 64, 64));
    fn(word, mask_of(from, to));
  }
}

}  // namespace

void WrittenMap::materialise() {
  if (!bits_.empty()) return;
  bits_.assign(static_cast<std::size_t>(rows_) * words_per_row(), 0);
  set_ = 0;
  if (!all_) return;
  all_ = false;
  for (int row = 0; row < rows_; ++row) {
    for_each_word(0, bytes_, [&](std::int64_t word, std::uint64_t mask) {
      bits_[row * words_per_row() + word] = mask;
    });
  }
  set_ = rows_ * bytes_;
}

template <bool kSet>
void WrittenMap::change(const AccessPattern& pattern, int first_row, std::int64_t first_byte) {
  materialise();
  for_each_stretch(pattern, first_row, first_byte,
                   [&](int row, std::int64_t start, std::int64_t count) {
                     for_each_word(start, count, [&](std::int64_t word, std::uint64_t mask) {
                       std::uint64_t& bits = bits_[row * words_per_row() + word];
                       const std::uint64_t changed = kSet ? bits | mask : bits & ~mask;
                       set_ += std::popcount(changed) - std::popcount(bits);
                       bits = changed;
                     });
                   });
  if (set_ == rows_ * bytes_) {
    bits_ = {};
    all_ = true;
  }
}

void WrittenMap::mark(const AccessPattern& pattern, int first_row, std::int64_t first_byte) {
  if (all_) return;
  if (pattern.bytes() == rows_ * bytes_ && bits_.empty() &&
      walk_of(pattern).contiguous(pattern.element_bytes())) {
    all_ = true;
    return;
  }
  change<true>(pattern, first_row, first_byte);
}

void WrittenMap::clear(const AccessPattern& pattern, int first_row, std::int64_t first_byte) {
  if (none()) return;
  change<false>(pattern, first_row, first_byte);
}

std::optional<WrittenMap::Position> WrittenMap::first_unwritten(const AccessPattern& pattern,
                                                                int first_row,
                                                                std::int64_t first_byte) const {
  if (all_) return std::nullopt;
  std::optional<Position> missing;
  for_each_stretch(pattern, first_row, first_byte,
                   [&](int row, std::int64_t start, std::int64_t count) {
                     if (missing) return;
                     if (bits_.empty()) {
                       missing = Position{row, start};
                       return;
                     }
                     for_each_word(start, count, [&](std::int64_t word, std::uint64_t mask) {
                       const std::uint64_t absent = mask & ~bits_[row * words_per_row() + word];
                       if (absent != 0 && !missing)
                         missing = Position{row, word * 64 + std::countr_zero(absent)};
                     });
                   });
  return missing;
}

std::optional<WrittenMap::Position> WrittenMap::first_written(const AccessPattern& pattern,
                                                              int first_row,
                                                              std::int64_t first_byte,
                                                              const WrittenMap* except) const {
  if (none()) return std::nullopt;
  std::optional<Position> found;
  for_each_stretch(pattern, first_row, first_byte,
                   [&](int row, std::int64_t start, std::int64_t count) {
                     if (found) return;
                     for_each_word(start, count, [&](std::int64_t word, std::uint64_t mask) {
                       const std::uint64_t there =
                           mask & word_at(row, word) & ~(except ? except->word_at(row, word) : 0);
                       if (there != 0 && !found)
                         found = Position{row, word * 64 + std::countr_zero(there)};
                     });
                   });
  return found;
}

bool WrittenMap::any_written(const AccessPattern& pattern, int first_row,
                             std::int64_t first_byte) const {
  if (all_ || bits_.empty()) return all_;
  return first_written(pattern, first_row, first_byte).has_value();
}

void WrittenMap::for_each_unwritten(const AccessPattern& pattern, int first_row,
                                    std::int64_t first_byte,
                                    const std::function<void(Position)>& fn) const {
  if (all_) return;
  for_each_stretch(
      pattern, first_row, first_byte, [&](int row, std::int64_t start, std::int64_t count) {
        for (std::int64_t byte = start; byte < start + count; ++byte) {
          const bool set =
              !bits_.empty() && (bits_[row * words_per_row() + byte / 64] >> (byte % 64) & 1) != 0;
          if (!set) fn({row, byte});
        }
      });
}

}  // namespace trnsim::memory
