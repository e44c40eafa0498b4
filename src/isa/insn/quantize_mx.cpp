// MX quantisation: each group of 8 partitions x 4 consecutive elements is divided by a power of two
// and rounded to fp8. The power follows from the exponent of the largest magnitude; a group with a
// NaN or an infinity counts as exponent 128.
#include <algorithm>
#include <bit>
#include <cmath>

#include "isa/instruction.h"
#include "isa/mx_operands.h"
#include "isa/required.h"
#include "isa/rows.h"
#include "memory/stretch.h"

namespace trnsim::isa {
namespace {

constexpr std::uint32_t kMagnitude = 0x7fffffff;
constexpr int kMantissaBits = 23;

struct QuantizeMx {
  Tile dst, src, dst_scale;
  bool ocp_scale = false;

  static constexpr Info kInfo{
      .name = "quantize_mx",
      .summary =
          "dst = src / 2^s as fp8, dst_scale = s + 127, one s for 8 partitions x 4 elements: the "
          "largest exponent less that of the type's maximum, plus 1; ocp_scale (releases before "
          "0.5) leaves out the 1 and saturates",
      .engines = "Vector",
      .cost = "max(MIN_II, N / 4) cycles, N elements of src; + drain",
      .source = "NKI documentation 2.32, nki.isa.quantize_mx; Trainium3 guide",
      .since = 4};
  static constexpr std::tuple kFields{out("dst", &QuantizeMx::dst), in("src", &QuantizeMx::src),
                                      out_part("dst_scale", &QuantizeMx::dst_scale),
                                      opt("ocp_scale", &QuantizeMx::ocp_scale)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    require_number(rules, rules.core().vector.quantize_mx_speedup, "vector.quantize_mx_speedup");
    check_mx_data(rules, "src", src);
    check_mx_data(rules, "dst", dst);
    if (src.dtype != Dtype::kBfloat16 && src.dtype != Dtype::kFloat16) {
      rules.fail("src_dtype", "src is {} but must be bfloat16 or float16",
                 numerics::info(src.dtype).name);
    }
    if (dst.dtype != Dtype::kFloat8E4M3FNx4 && dst.dtype != Dtype::kFloat8E5M2x4) {
      rules.fail("dst_dtype", "dst is {} but must be float8_e4m3fn_x4 or float8_e5m2_x4",
                 numerics::info(dst.dtype).name);
    }
    rules.same_partitions("dst", dst, "src", src);
    if (src.free_elements() != dst.free_elements() * kMxPacked) {
      rules.fail("free_size",
                 "src has {} elements per partition and dst {}; src must have {} times "
                 "as many",
                 src.free_elements(), dst.free_elements(), kMxPacked);
    }
    check_mx_scale(rules, "dst_scale", dst_scale, "src", src, dst.free_elements());
  }

  void execute(CoreState& state) const {
    RowReader reader(state, 1, src);
    RowWriter writer(state, 0, dst, {&src});
    const auto columns = static_cast<std::size_t>(dst.free_elements());
    std::vector<std::byte> scales;
    scales.reserve(columns * static_cast<std::size_t>(src.partitions() / kMxGroupPartitions));
    const int step = writer.needs_whole_tile() ? src.partitions() : kMxGroupPartitions;
    for (int first = 0; first < src.partitions(); first += step) {
      const Rows x = reader.rows(first, step);
      const MutableRows y = writer.rows(first, step);
      for (int row = 0; row < step; row += kMxGroupPartitions)
        quantize_groups(x, y, static_cast<std::size_t>(row), scales);
      writer.commit();
    }
    for (int q = 0; q < src.partitions() / kQuadrantPartitions; ++q) {
      const Tile rows = mx_scale_rows(dst_scale, q);
      memory::scatter(state.memory, rows, scales.data() + q * rows.elements());
      state.memory.mark_written(rows);
    }
  }

  // The groups that begin in one row.
  void quantize_groups(const Rows& x, const MutableRows& y, std::size_t row,
                       std::vector<std::byte>& scales) const {
    std::vector<std::uint32_t> largest(y.size / kMxPacked, 0);
    for (std::size_t r = row; r < row + kMxGroupPartitions; ++r) {
      const float* values = x.row(r);
      for (std::size_t c = 0; c < largest.size(); ++c) {
        for (std::size_t q = 0; q < kMxPacked; ++q)
          largest[c] = std::max(
              largest[c], std::bit_cast<std::uint32_t>(values[c * kMxPacked + q]) & kMagnitude);
      }
    }
    const double limit = numerics::info(dst.dtype).max_finite;
    const int top = std::ilogb(limit) - (ocp_scale ? 0 : 1);
    std::vector<float> factor(largest.size());
    for (std::size_t c = 0; c < largest.size(); ++c) {
      // Both exponents are biased by 127: of fp32, and of the scale's byte.
      const int scale = std::max(0, static_cast<int>(largest[c] >> kMantissaBits) - top);
      scales.push_back(static_cast<std::byte>(scale));
      factor[c] =
          std::bit_cast<float>(static_cast<std::uint32_t>(2 * 127 - scale) << kMantissaBits);
    }
    const auto most = static_cast<float>(limit);
    for (std::size_t r = row; r < row + kMxGroupPartitions; ++r) {
      const float* values = x.row(r);
      float* quotients = y.row(r);
      for (std::size_t i = 0; i < y.size; ++i) {
        const float quotient = values[i] * factor[i / kMxPacked];
        quotients[i] = ocp_scale ? std::clamp(quotient, -most, most) : quotient;
      }
    }
  }

  Cost cost(const CostModel& model) const {
    const double slow = std::max(model.stride_slowdown(src), model.stride_slowdown(dst));
    Cost cost = model.vector(static_cast<double>(src.free_elements()) * slow /
                             *model.core().vector.quantize_mx_speedup);
    cost.flops = src.elements();
    return cost;
  }
};

}  // namespace

InstructionType insn_quantize_mx() { return describe<QuantizeMx>(); }

}  // namespace trnsim::isa
