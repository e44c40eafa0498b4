// Batch-norm statistics: count, mean and count * variance of the even and of the odd elements of
// each partition.
#include "isa/accumulator.h"
#include "isa/instruction.h"

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

  void execute(CoreState& state) const {
    for_each_group(
        state, data.partitions(), dst, {&data},
        [](int, const MutableRows& y, const Rows& x) {
          for (std::size_t r = 0; r < y.count; ++r) {
            std::array<float, kStatistics> statistics;  // y may lie in x
            describe_half(x.row(r), x.size, statistics.data());
            describe_half(x.row(r) + 1, x.size - 1, statistics.data() + kStatistics / 2);
            std::copy(statistics.begin(), statistics.end(), y.row(r));
          }
        },
        data);
  }

  // Every second element from x[0]. Two passes in fp32, each in ascending order.
  static void describe_half(const float* x, std::size_t n, float* statistics) {
    const std::size_t elements = (n + 1) / 2;
    const auto count = static_cast<float>(elements);
    float sum = 0, squares = 0;
    for (std::size_t i = 0; i < elements; ++i) sum += x[2 * i];
    const float mean = elements == 0 ? 0 : sum / count;
    for (std::size_t i = 0; i < elements; ++i) squares += (x[2 * i] - mean) * (x[2 * i] - mean);
    statistics[0] = count;
    statistics[1] = mean;
    statistics[2] = squares;
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
