#include "isa/mx_operands.h"

#include <algorithm>
#include <array>

#include "memory/stretch.h"
#include "numerics/convert.h"

namespace trnsim::isa {
namespace {

constexpr int kDecodedAtOnce = 256;

int quadrants_of(const Tile& data) { return data.partitions() / kQuadrantPartitions; }

}  // namespace

void check_mx_data(const Rules& rules, const char* name, const Tile& data) {
  rules.operand(name, data, Buffers::kSbuf);
  if (data.partitions() % kQuadrantPartitions != 0) {
    rules.fail("quadrants", "{} has {} partitions; MX data takes a multiple of {}", name,
               data.partitions(), kQuadrantPartitions);
  }
}

void check_mx_scale(const Rules& rules, const char* name, const Tile& scale, const char* name_data,
                    const Tile& data, std::int64_t columns) {
  if (scale.dtype != Dtype::kFloat8E8M0FNU && scale.dtype != Dtype::kUint8) {
    rules.fail("scale_dtype", "{} is {} but must be float8_e8m0fnu or uint8", name,
               numerics::info(scale.dtype).name);
  }
  const int row = scale.start_partition % kQuadrantPartitions;
  Tile quadrants = scale;
  quadrants.start_partition = static_cast<std::uint16_t>(scale.start_partition - row);
  if (scale.on_chip()) quadrants.sizes[0] = data.partitions();
  rules.operand(name, quadrants, Buffers::kSbuf);
  if (row % kMxScaleRows != 0 || row > 3 * kMxScaleRows) {
    rules.fail(
        "scale_offset",
        "{} starts at partition {}, row {} of its quadrant; scales start at row 0, 4, 8 or 12",
        name, scale.start_partition, row);
  }
  if (quadrants.start_partition != data.start_partition) {
    rules.fail(
        "scale_quadrant",
        "{} starts in the quadrant of partition {} but {} in that of partition {}; scales lie "
        "in the quadrants of their data",
        name, quadrants.start_partition, name_data, data.start_partition);
  }
  const int needed = data.partitions() - kQuadrantPartitions + kMxScaleRows;
  if (scale.partitions() < needed) {
    rules.fail("scale_partitions",
               "{} has {} partitions; {} partitions of data need {}, since the scales of every {} "
               "lie in a quadrant of their own",
               name, scale.partitions(), data.partitions(), needed, kQuadrantPartitions);
  }
  if (scale.free_elements() != columns) {
    rules.fail("scale_free", "{} has {} scales per row; {} needs {}", name, scale.free_elements(),
               name_data, columns);
  }
}

Tile mx_scale_rows(const Tile& scale, int quadrant) {
  return rows_of(scale, quadrant * kQuadrantPartitions, kMxScaleRows);
}

void require_mx_scales(const Rules& rules, const char* name, const Tile& scale, const Tile& data) {
  for (int q = 0; q < quadrants_of(data); ++q)
    rules.memory().require_written(mx_scale_rows(scale, q), name);
}

MxOperand::MxOperand(const CoreState& state, const Tile& data, const Tile& scale)
    : dtype_(data.dtype),
      partitions_(data.partitions()),
      columns_(static_cast<int>(data.free_elements())),
      units_(static_cast<std::size_t>(data.bytes())) {
  memory::gather(state.memory, data, units_.data());
  const auto groups = static_cast<std::size_t>(partitions_ / kMxGroupPartitions);
  std::vector<std::byte> stored(groups * static_cast<std::size_t>(columns_));
  for (int q = 0; q < quadrants_of(data); ++q) {
    memory::gather(state.memory, mx_scale_rows(scale, q),
                   stored.data() + static_cast<std::ptrdiff_t>(q) * kMxScaleRows * columns_);
  }
  scales_.resize(stored.size());
  numerics::to_float(Dtype::kFloat8E8M0FNU, stored.data(), 1, scales_.data(), stored.size());
}

void MxOperand::decode(int first, int count, float* out) const {
  const std::ptrdiff_t unit = numerics::info(dtype_).bytes;
  std::array<float, kDecodedAtOnce * kMxPacked> elements;
  for (int k = 0; k < partitions_; ++k) {
    for (int begin = 0; begin < count; begin += kDecodedAtOnce) {
      const int n = std::min(kDecodedAtOnce, count - begin);
      const std::ptrdiff_t column = first + begin;
      numerics::to_float(dtype_, units_.data() + (k * std::ptrdiff_t{columns_} + column) * unit,
                         unit, elements.data(), static_cast<std::size_t>(n));
      const float* scale =
          scales_.data() + (k / kMxGroupPartitions) * std::ptrdiff_t{columns_} + column;
      for (int q = 0; q < kMxPacked; ++q) {
        float* row = out + (k * kMxPacked + q) * std::ptrdiff_t{count} + begin;
        for (int c = 0; c < n; ++c) row[c] = elements[c * kMxPacked + q] * scale[c];
      }
    }
  }
}

}  // namespace trnsim::isa
