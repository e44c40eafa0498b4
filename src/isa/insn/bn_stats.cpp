// Batch-norm statistics: count, mean and count * variance of the even and of the odd elements of
// each partition.
#include <algorithm>
#include <array>

#include "isa/accumulator.h"
#include "isa/instruction.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

constexpr std::size_t kStatistics = 6;

struct BnStats {
  Tile dst, data;

  static constexpr Info kInfo{
      .name = "bn_stats",
      .summary =
          "dst = count, mean, count * variance of data's even elements, then of its odd ones",
      .engines = "Vector",
      .cost = "max(MIN_II, c N) cycles; + drain",
      .source = "NKI documentation 2.26 and 2.32, nki.isa.bn_stats"};
  static constexpr std::tuple kFields{out("dst", &BnStats::dst), in("data", &BnStats::data)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    check_tile(rules, "data", data);
    rules.same_partitions("data", data, "dst", dst);
    // nl.tile_size.bn_stats_fmax is one PSUM bank of fp32.
    const auto limit = static_cast<std::int64_t>(rules.core().psum.bank_bytes / sizeof(float));
    rules.free_size_at_most("data", data, limit, "tile_size.bn_stats_fmax");
    if (dst.free_elements() != kStatistics) {
      rules.fail("dst_size", "dst has {} elements per partition but must have {}",
                 dst.free_elements(), kStatistics);
    }
  }

  // Of every second element of each row.
  struct Half {
    float count;
    std::array<float, 128> mean{}, squares{};
  };

  void execute(CoreState& state) const {
    for_each_group(
        state, data.partitions(), dst, {&data},
        [&](int, const MutableRows& y, const Rows& x) {
          const Half even = describe_half(state, x, 0),
                     odd = describe_half(state, x, 1);  // y may lie in x
          for (std::size_t r = 0; r < y.count; ++r) {
            const float statistics[] = {even.count, even.mean[r], even.squares[r],
                                        odd.count,  odd.mean[r],  odd.squares[r]};
            std::copy(std::begin(statistics), std::end(statistics), y.row(r));
          }
        },
        data);
  }

  // Two passes in fp32, each in ascending order: the mean, then the sum of squared distances from
  // it.
  static Half describe_half(CoreState& state, const Rows& x, std::size_t from) {
    const std::size_t n = (x.size + 1 - from) / 2;
    const auto width = static_cast<std::ptrdiff_t>(n);
    float* half = working_rows(state, 4, x.count * n);
    for (std::size_t r = 0; r < x.count; ++r) {
      const float* row = x.row(r) + from;
      for (std::size_t i = 0; i < n; ++i) half[r * n + i] = row[2 * i];
    }
    Half result{.count = static_cast<float>(n)};
    numerics::reduce_rows(AluOp::kAdd, half, width, x.count, n, result.mean.data());
    for (std::size_t r = 0; r < x.count && n > 0; ++r) result.mean[r] /= result.count;
    numerics::binary_scalar(AluOp::kSubtract, half, width, result.mean.data(), 1, false, half,
                            width, x.count, n);
    numerics::binary(AluOp::kMultiply, half, width, half, width, half, width, x.count, n);
    numerics::reduce_rows(AluOp::kAdd, half, width, x.count, n, result.squares.data());
    return result;
  }

  Cost cost(const CostModel& model) const {
    const double n = static_cast<double>(data.free_elements()) * model.stride_slowdown(data);
    Cost cost = model.vector(n * model.core().vector.bn_stats_cycles);
    cost.flops = 4 * data.elements();
    return cost;
  }
};

}  // namespace

InstructionType insn_bn_stats() { return describe<BnStats>(); }

}  // namespace trnsim::isa
