// dst = exp(src - max_value) on the Vector Engine, optionally summed per partition into its
// accumulators; the sum takes the values before they are converted.
#include <limits>

#include "isa/accumulator.h"
#include "isa/instruction.h"
#include "isa/required.h"
#include "numerics/elementwise.h"
#include "numerics/functions.h"

namespace trnsim::isa {
namespace {

struct Exponential {
  Tile dst, src;
  ScalarOrTile max_value{.tile = {}, .scalar = 0, .kind = ScalarOrTile::Kind::kScalar};
  Tile reduce_res;
  ReduceCommand reduce_cmd = ReduceCommand::kIdle;
  ScalarOrTile reduce_init{.tile = {}, .scalar = 0, .kind = ScalarOrTile::Kind::kScalar};

  static constexpr Info kInfo{
      .name = "exponential",
      .summary = "dst = exp(src - max_value); reduce_cmd sums the result into the accumulators",
      .engines = "Vector",
      .cost =
          "max(MIN_II, N / 4) cycles, + the accumulator's read if there is a reduce_res; \"four "
          "times the throughput of activation\"",
      .source = "NKI documentation 2.32, nki.isa.exponential; Trainium3 guide",
      .since = 4};
  static constexpr std::tuple kFields{indirectable(out("dst", &Exponential::dst)),
                                      indirectable(in("src", &Exponential::src)),
                                      opt_in("max_value", &Exponential::max_value),
                                      opt_out("reduce_res", &Exponential::reduce_res),
                                      opt("reduce_cmd", &Exponential::reduce_cmd),
                                      opt_in("reduce_init", &Exponential::reduce_init)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    require_number(rules, rules.core().vector.exponential_speedup, "vector.exponential_speedup");
    check_tile(rules, "dst", dst);
    check_like(rules, "src", src, "dst", dst);
    check_shape_and_dtype(rules, "dst", dst, Dtype::kUint32);
    check_shape_and_dtype(rules, "src", src, Dtype::kTfloat32);
    check_per_partition(rules, "max_value", max_value, src);
    check_float32(rules, "max_value", max_value);
    check_per_partition(rules, "reduce_init", reduce_init, src);
    check_float32(rules, "reduce_init", reduce_init);
    check_reduction(rules);
  }

  // Types that the instruction's documentation does not name at all.
  static bool is_unlisted(Dtype dtype) {
    return dtype == Dtype::kFloat8E4M3FN || dtype == Dtype::kFloat8E3M4 ||
           dtype == Dtype::kFloat8E8M0FNU || dtype == Dtype::kFloat4E2M1FN || dtype == Dtype::kBool;
  }

  void check_shape_and_dtype(const Rules& rules, const char* name, const Tile& tile,
                             Dtype excluded) const {
    if (tile.dims > 4) rules.fail("dims", "{} has {} dimensions; at most 4", name, tile.dims);
    if (tile.dtype == excluded || is_unlisted(tile.dtype)) {
      rules.fail("dtype", "{} is {}, which exponential does not take", name,
                 numerics::info(tile.dtype).name);
    }
  }

  void check_reduction(const Rules& rules) const {
    if (reduce_cmd == ReduceCommand::kReset) {
      rules.fail("reduce_cmd", "reduce_cmd must be idle, reduce, reset_reduce or load_reduce");
    }
    if (reduce_cmd != ReduceCommand::kLoadReduce &&
        (reduce_init.is_tile() || reduce_init.scalar != 0)) {
      rules.fail("reduce_init", "reduce_init is given but reduce_cmd is not load_reduce");
    }
    check_reduce_res(rules, reduce_res, src);
    if (!reduce_res.present()) return;
    if (!numerics::info(reduce_res.dtype).is_float || is_unlisted(reduce_res.dtype)) {
      rules.fail("reduce_res_dtype", "reduce_res is {} but must be a float type",
                 numerics::info(reduce_res.dtype).name);
    }
    if (reduce_cmd == ReduceCommand::kIdle) {
      rules.fail(
          "reduce_idle",
          "reduce_res is given but reduce_cmd is idle, which leaves the accumulator undefined");
    }
  }

  void execute(CoreState& state) const {
    float* lanes = prepare_registers(state, state.vector_accumulator, reduce_cmd, AluOp::kAdd, src,
                                     reduce_init);
    // Documented: idle may modify the accumulators. NaN shows whoever relies on them.
    if (reduce_cmd == ReduceCommand::kIdle)
      std::fill_n(lanes, src.partitions(), std::numeric_limits<float>::quiet_NaN());
    const Column subtrahend(state, max_value, src.partitions());
    for_each_group(
        state, kReductionRows, dst, {&src},
        [&](int first, const MutableRows& y, const Rows& x) {
          numerics::binary_scalar(AluOp::kSubtract, x.data, x.stride, subtrahend.at(first),
                                  subtrahend.stride(), false, y.data, y.stride, y.count, y.size);
          for (std::size_t r = 0; r < y.count; ++r)
            numerics::activate(numerics::ActivationFunction::kExp, y.row(r), y.row(r), y.size);
          if (accumulates(reduce_cmd))
            numerics::reduce_rows(AluOp::kAdd, y.data, y.stride, y.count, y.size, lanes + first);
        },
        src);
    if (reduce_res.present()) write_column(state, reduce_res, lanes);
  }

  Cost cost(const CostModel& model) const {
    const catalog::VectorEngine& vector = model.core().vector;
    const double slow = std::max(model.stride_slowdown(dst), model.stride_slowdown(src));
    Cost cost =
        model.vector(static_cast<double>(src.free_elements()) * slow / *vector.exponential_speedup);
    if (reduce_res.present()) cost = with_accumulator_read(cost, vector);
    cost.flops = src.elements();
    return cost;
  }
};

}  // namespace

InstructionType insn_exponential() { return describe<Exponential>(); }

}  // namespace trnsim::isa
