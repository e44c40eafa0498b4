// Which bytes of a memory have been written: so that reading a byte nobody wrote is an error, not a
// surprise. Tensors written whole, the common case, cost one flag; a bitmap appears with the first
// partial write.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace trnsim::memory {

struct AccessPattern;

class WrittenMap {
 public:
  // rows: partitions (on chip) or 1 (HBM); bytes: per row.
  WrittenMap(int rows, std::int64_t bytes) : rows_(rows), bytes_(bytes) {}

  struct Position {
    int row;
    std::int64_t byte;
  };

  // `row` and `byte` are where the map's origin lies in the pattern's own coordinates.
  void mark(const AccessPattern& pattern, int first_row, std::int64_t first_byte);
  void clear(const AccessPattern& pattern, int first_row, std::int64_t first_byte);
  std::optional<Position> first_unwritten(const AccessPattern& pattern, int first_row,
                                          std::int64_t first_byte) const;

  // The first byte that is written here and not in `except`.
  std::optional<Position> first_written(const AccessPattern& pattern, int first_row,
                                        std::int64_t first_byte,
                                        const WrittenMap* except = nullptr) const;
  bool any_written(const AccessPattern& pattern, int first_row, std::int64_t first_byte) const;
  // Calls fn for each byte of the pattern that is not set.
  void for_each_unwritten(const AccessPattern& pattern, int first_row, std::int64_t first_byte,
                          const std::function<void(Position)>& fn) const;

  bool all() const { return all_; }
  bool none() const { return !all_ && bits_.empty(); }

 private:
  std::uint64_t word_at(int row, std::int64_t word) const {
    if (all_) return ~std::uint64_t{0};
    return bits_.empty() ? 0 : bits_[row * words_per_row() + word];
  }
  std::int64_t words_per_row() const { return (bytes_ + 63) / 64; }
  void materialise();
  template <bool kSet>
  void change(const AccessPattern& pattern, int first_row, std::int64_t first_byte);

  int rows_;
  std::int64_t bytes_;
  bool all_ = false;
  std::int64_t set_ = 0;
  std::vector<std::uint64_t> bits_;
};

}  // namespace trnsim::memory
