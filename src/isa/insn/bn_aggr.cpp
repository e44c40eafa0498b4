// Mean and variance per partition from the (count, mean, count * variance) triples of bn_stats.
#include "isa/instruction.h"
#include "isa/operators.h"
#include "isa/row_groups.h"

namespace trnsim::isa {
namespace {

constexpr std::size_t kTriple = 3;

struct BnAggr {
  Tile dst, data;

  static constexpr Info kInfo{
      .name = "bn_aggr",
      .summary = "dst = mean, variance over data's (count, mean, count * variance) triples",
      .engines = "Vector",
      .cost = "max(MIN_II, 13 N / 3) cycles; + drain",
      .source = "NKI documentation 2.26 and 2.32, nki.isa.bn_aggr"};
  static constexpr std::tuple kFields{out("dst", &BnAggr::dst), in("data", &BnAggr::data)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    check_tile(rules, "data", data);
    rules.same_partitions("data", data, "dst", dst);
    if (data.free_elements() % kTriple != 0) {
      rules.fail("triples", "data has {} elements per partition; it must be a multiple of {}",
                 data.free_elements(), kTriple);
    }
    if (dst.free_elements() != 2) {
      rules.fail("dst_size", "dst has {} elements per partition but must have 2",
                 dst.free_elements());
    }
  }

  void execute(CoreState& state) const {
    for_each_group(
        state, data.partitions(), dst, {&data},
        [](int, const MutableRows& y, const Rows& x) {
          for (std::size_t r = 0; r < y.count; ++r) aggregate(x.row(r), x.size, y.row(r));
        },
        data);
  }

  // mean = sum c m / n; variance = (sum c v + sum c (m - mean)^2) / n with n = sum c; fp32,
  // ascending.
  static void aggregate(const float* x, std::size_t size, float* result) {
    float count = 0, sum = 0, squares = 0;
    for (std::size_t i = 0; i < size; i += kTriple) {
      count += x[i];
      sum += x[i] * x[i + 1];
    }
    const float mean = sum / count;
    for (std::size_t i = 0; i < size; i += kTriple) {
      const float apart = x[i + 1] - mean;
      squares += x[i + 2] + x[i] * apart * apart;
    }
    result[0] = mean;
    result[1] = squares / count;
  }

  Cost cost(const CostModel& model) const {
    const double n = static_cast<double>(data.free_elements()) * model.stride_slowdown(data);
    Cost cost = model.vector(n * model.core().vector.bn_aggr_cycles);
    cost.flops = 3 * data.elements();
    return cost;
  }
};

}  // namespace

InstructionType insn_bn_aggr() { return describe<BnAggr>(); }

}  // namespace trnsim::isa
