// dst = on_true where the predicate is not zero, on_false elsewhere, with an optional maximum per
// partition.
#include <limits>

#include "isa/accumulator.h"
#include "isa/instruction.h"
#include "isa/predicated.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

struct SelectReduce {
  Tile dst, predicate, on_true;
  ScalarOrTile on_false;
  Tile reduce_res;
  ReduceCommand reduce_cmd = ReduceCommand::kIdle;
  AluOp reduce_op = AluOp::kMaximum;
  bool reverse_pred = false;

  static constexpr Info kInfo{.name = "select_reduce",
                              .summary =
                                  "dst = predicate ? on_true : on_false; reduce_cmd takes the "
                                  "maximum into the accumulators",
                              .engines = "Vector",
                              .cost =
                                  "as tensor_copy_predicated, + the accumulator's read if there is "
                                  "a reduce_res; not published",
                              .source = "NKI documentation 2.32, nki.isa.select_reduce"};
  static constexpr std::tuple kFields{out("dst", &SelectReduce::dst),
                                      in("predicate", &SelectReduce::predicate),
                                      in("on_true", &SelectReduce::on_true),
                                      in("on_false", &SelectReduce::on_false),
                                      opt_out("reduce_res", &SelectReduce::reduce_res),
                                      opt("reduce_cmd", &SelectReduce::reduce_cmd),
                                      opt("reduce_op", &SelectReduce::reduce_op),
                                      opt("reverse_pred", &SelectReduce::reverse_pred)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    check_like(rules, "predicate", predicate, "dst", dst);
    check_like(rules, "on_true", on_true, "dst", dst);
    check_per_partition(rules, "on_false", on_false, on_true);
    rules.not_both_psum("on_true", on_true, "predicate", predicate);
    check_dtypes(rules);
    check_reduction(rules);
  }

  void check_dtypes(const Rules& rules) const {
    const Dtype value = on_true.dtype, test = predicate.dtype;
    if (value == Dtype::kTfloat32 || value == Dtype::kInt32 || value == Dtype::kUint32) {
      rules.fail("on_true_dtype", "on_true is {}; tfloat32, int32 and uint32 are not supported",
                 numerics::info(value).name);
    }
    if (test != Dtype::kInt8 && test != Dtype::kUint8 && test != Dtype::kInt16 &&
        test != Dtype::kUint16) {
      rules.fail("predicate_dtype", "predicate is {} but must be int8, uint8, int16 or uint16",
                 numerics::info(test).name);
    }
    if (reduce_res.present() && !numerics::info(reduce_res.dtype).is_float) {
      rules.fail("reduce_res_dtype", "reduce_res is {} but must be a float type",
                 numerics::info(reduce_res.dtype).name);
    }
  }

  void check_reduction(const Rules& rules) const {
    if (reduce_op != AluOp::kMaximum) {
      rules.fail("reduce_op", "reduce_op {} must be maximum", numerics::name(reduce_op));
    }
    if (reduce_cmd == ReduceCommand::kReset || reduce_cmd == ReduceCommand::kLoadReduce) {
      rules.fail("reduce_cmd", "reduce_cmd must be idle, reduce or reset_reduce");
    }
    check_reduce_res(rules, reduce_res, on_true);
    if (reduce_res.present() && reduce_cmd == ReduceCommand::kIdle) {
      rules.fail(
          "reduce_idle",
          "reduce_res is given but reduce_cmd is idle, which leaves the accumulator undefined");
    }
  }

  void execute(CoreState& state) const {
    float* lanes = prepare_registers(state, state.vector_accumulator, reduce_cmd, AluOp::kMaximum,
                                     on_true, {});
    // Documented: idle may modify the accumulators. NaN shows whoever relies on them.
    if (reduce_cmd == ReduceCommand::kIdle) {
      std::fill_n(lanes, on_true.partitions(), std::numeric_limits<float>::quiet_NaN());
    }
    const Column otherwise(state, on_false, on_true.partitions());
    for_each_group(
        state, kReductionRows, dst, {&predicate, &on_true},
        [&](int first, const MutableRows& y, const Rows& test, const Rows& x) {
          for (std::size_t r = 0; r < y.count; ++r) {
            choose(test.row(r), x.row(r), *otherwise.at(first + static_cast<int>(r)), y.row(r),
                   y.size);
          }
          if (reduce_cmd == ReduceCommand::kIdle) return;
          numerics::reduce_rows(AluOp::kMaximum, y.data, y.stride, y.count, y.size, lanes + first);
        },
        predicate, on_true);
    if (reduce_res.present()) write_column(state, reduce_res, lanes);
  }

  void choose(const float* test, const float* x, float otherwise, float* y, std::size_t n) const {
    const bool reverse = reverse_pred;
    for (std::size_t i = 0; i < n; ++i) {
      const float value = x[i];
      y[i] = (test[i] != 0) != reverse ? value : otherwise;
    }
  }

  Cost cost(const CostModel& model) const {
    Cost cost = predicated_cost(model, dst, predicate, on_true);
    if (reduce_res.present()) cost = with_accumulator_read(cost, model.core().vector);
    return cost;
  }
};

}  // namespace

InstructionType insn_select_reduce() { return describe<SelectReduce>(); }

}  // namespace trnsim::isa
