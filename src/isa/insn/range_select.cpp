// Keep the elements whose index lies within per-partition bounds, put FP32_MIN elsewhere: the
// causal mask of attention, with the row maximum beside it.
#include <limits>
#include <numeric>

#include "isa/accumulator.h"
#include "isa/instruction.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

constexpr double kFp32Min = std::numeric_limits<float>::lowest();
constexpr std::int64_t kExactIntegers = std::int64_t{1} << std::numeric_limits<float>::digits;

struct RangeSelect {
  Tile dst, on_true_tile;
  AluOp comp_op0 = AluOp::kGreaterEqual;
  AluOp comp_op1 = AluOp::kLess;
  Tile bound0, bound1;
  ReduceCommand reduce_cmd = ReduceCommand::kResetReduce;
  Tile reduce_res;
  AluOp reduce_op = AluOp::kMaximum;
  std::int32_t range_start = 0;
  double on_false_value = kFp32Min;

  static constexpr Info kInfo{
      .name = "range_select",
      .summary =
          "dst = comp_op0(i, bound0) and comp_op1(i, bound1) ? on_true_tile : FP32_MIN, i from "
          "range_start",
      .engines = "Vector",
      .cost = "max(MIN_II, N) cycles, + the accumulator's read if there is a reduce_res",
      .source = "NKI documentation 2.26 and 2.32, nki.isa.range_select",
      .since = 3};
  static constexpr std::tuple kFields{out("dst", &RangeSelect::dst),
                                      in("on_true_tile", &RangeSelect::on_true_tile),
                                      arg("comp_op0", &RangeSelect::comp_op0),
                                      arg("comp_op1", &RangeSelect::comp_op1),
                                      in("bound0", &RangeSelect::bound0),
                                      in("bound1", &RangeSelect::bound1),
                                      opt("reduce_cmd", &RangeSelect::reduce_cmd),
                                      opt_out("reduce_res", &RangeSelect::reduce_res),
                                      opt("reduce_op", &RangeSelect::reduce_op),
                                      opt("range_start", &RangeSelect::range_start),
                                      opt("on_false_value", &RangeSelect::on_false_value)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    check_like(rules, "on_true_tile", on_true_tile, "dst", dst);
    if (!numerics::info(on_true_tile.dtype).is_float) {
      rules.fail("on_true_dtype", "on_true_tile is {} but must be a float type",
                 numerics::info(on_true_tile.dtype).name);
    }
    check_bound(rules, "bound0", bound0);
    check_bound(rules, "bound1", bound1);
    check_comparison(rules, "comp_op0", comp_op0);
    check_comparison(rules, "comp_op1", comp_op1);
    const std::int64_t end = range_start + on_true_tile.free_elements();
    if (end > kExactIntegers || range_start < -kExactIntegers) {
      rules.fail("range", "indices reach from {} to {}; fp32 is exact up to {} only", range_start,
                 end - 1, kExactIntegers);
    }
    if (static_cast<float>(on_false_value) != static_cast<float>(kFp32Min)) {
      rules.fail("on_false_value", "on_false_value is {} but the hardware has FP32_MIN ({}) only",
                 on_false_value, kFp32Min);
    }
    if (reduce_op != AluOp::kMaximum) {
      rules.fail("reduce_op", "reduce_op {} must be maximum", numerics::name(reduce_op));
    }
    if (reduce_cmd == ReduceCommand::kLoadReduce) {
      rules.fail("reduce_cmd",
                 "reduce_cmd load_reduce has nothing to load; use reset_reduce or reduce");
    }
    check_reduce_res(rules, reduce_res, on_true_tile);
  }

  void check_bound(const Rules& rules, const char* name, const Tile& bound) const {
    check_column(rules, name, bound, on_true_tile);
    if (bound.dtype != Dtype::kFloat32) {
      rules.fail("bound_dtype", "{} is {} but must be float32", name,
                 numerics::info(bound.dtype).name);
    }
  }

  static void check_comparison(const Rules& rules, const char* name, AluOp op) {
    if (!numerics::is_comparison(op) || op == AluOp::kNotEqual) {
      rules.fail("comp_op", "{} {} is not equal, less, less_equal, greater or greater_equal", name,
                 numerics::name(op));
    }
  }

  void execute(CoreState& state) const {
    float* lanes = prepare_registers(state, state.vector_accumulator, reduce_cmd, AluOp::kMaximum,
                                     on_true_tile, {});
    const Column low(state, {.tile = bound0, .kind = ScalarOrTile::Kind::kTile},
                     bound0.partitions());
    const Column high(state, {.tile = bound1, .kind = ScalarOrTile::Kind::kTile},
                      bound1.partitions());
    const auto n = static_cast<std::size_t>(on_true_tile.free_elements());
    float* index = working_rows(state, 5, 2 * n);
    float* also = index + n;
    std::iota(index, index + n, static_cast<float>(range_start));
    for_each_group(
        state, kReductionRows, dst, {&on_true_tile},
        [&](int first, const MutableRows& y, const Rows& x) {
          float* inside = working_rows(state, 4, n);
          for (std::size_t r = 0; r < y.count; ++r) {
            const int p = first + static_cast<int>(r);
            numerics::binary_scalar(comp_op0, index, 0, low.at(p), 0, false, inside, 0, 1, n);
            numerics::binary_scalar(comp_op1, index, 0, high.at(p), 0, false, also, 0, 1, n);
            choose(inside, also, x.row(r), y.row(r), n);
          }
          if (accumulates(reduce_cmd)) {
            numerics::reduce_rows(AluOp::kMaximum, y.data, y.stride, y.count, y.size,
                                  lanes + first);
          }
        },
        on_true_tile);
    if (reduce_res.present()) write_column(state, reduce_res, lanes);
  }

  static void choose(const float* inside, const float* also, const float* x, float* y,
                     std::size_t n) {
    constexpr auto kOutside = static_cast<float>(kFp32Min);
    for (std::size_t i = 0; i < n; ++i) {
      const float value = x[i];
      y[i] = inside[i] * also[i] != 0 ? value : kOutside;
    }
  }

  Cost cost(const CostModel& model) const {
    const double slow = std::max(model.stride_slowdown(dst), model.stride_slowdown(on_true_tile));
    Cost cost = model.vector(static_cast<double>(on_true_tile.free_elements()) * slow);
    if (reduce_res.present()) cost = with_accumulator_read(cost, model.core().vector);
    return cost;
  }
};

}  // namespace

InstructionType insn_range_select() { return describe<RangeSelect>(); }

}  // namespace trnsim::isa
