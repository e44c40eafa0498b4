// MX tensors: a tile of packed x4 data beside a tile of scales. Each group of 8 partitions x 4
// packed elements shares one scale, a power of two in a byte. The scales of a quadrant of the data
// (32 partitions) are four rows in the same quadrant; they begin at its row 0, 4, 8 or 12, where
// the scale tile begins, so that four tensors can share one tile. The tile's other rows are neither
// read nor written.
#pragma once

#include <vector>

#include "isa/operand.h"
#include "isa/rules.h"
#include "isa/slices.h"
#include "isa/state.h"

namespace trnsim::isa {

inline constexpr int kMxPacked = 4;           // elements of a group in one partition
inline constexpr int kMxGroupPartitions = 8;  // partitions of a group
inline constexpr int kMxScaleRows = kQuadrantPartitions / kMxGroupPartitions;

// Data in SBUF over whole quadrants.
void check_mx_data(const Rules& rules, const char* name, const Tile& data);
// One scale for each of `columns` units of a group; the quadrants are those of `data`.
void check_mx_scale(const Rules& rules, const char* name, const Tile& scale, const char* name_data,
                    const Tile& data, std::int64_t columns);

// The rows of scales of one quadrant of the data, counted from its first.
Tile mx_scale_rows(const Tile& scale, int quadrant);
void require_mx_scales(const Rules& rules, const char* name, const Tile& scale, const Tile& data);

// A matmul's operand with its scales: for partition k, element q of unit m is row 4 k + q, column
// m.
class MxOperand {
 public:
  MxOperand(const CoreState& state, const Tile& data, const Tile& scale);

  int rows() const { return partitions_ * kMxPacked; }
  int columns() const { return columns_; }
  // Values times scales, [rows, count], from column `first`. What exceeds fp32 becomes infinite.
  void decode(int first, int count, float* out) const;

 private:
  Dtype dtype_;
  int partitions_, columns_;
  std::vector<std::byte> units_;  // [partitions, columns]
  std::vector<float> scales_;     // [partitions / 8, columns]
};

}  // namespace trnsim::isa
