// dst = data <op0> operand0, and the results reduced per partition into the Vector Engine's
// accumulators.
#include "isa/accumulator.h"
#include "isa/instruction.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

struct TensorScalarReduce {
  Tile dst, data;
  AluOp op0 = AluOp::kAdd;
  ScalarOrTile operand0;
  AluOp reduce_op = AluOp::kAdd;
  Tile reduce_res;
  bool reverse0 = false;
  ReduceCommand reduce_cmd = ReduceCommand::kResetReduce;
  ScalarOrTile reduce_init;
  bool reduce_res_negate = false;

  static constexpr Info kInfo{
      .name = "tensor_scalar_reduce",
      .summary =
          "dst = data <op0> operand0; accumulator = accumulator <reduce_op> each element of it, in "
          "order",
      .engines = "Vector",
      .cost = "max(MIN_II, N) cycles, + the accumulator's read if there is a reduce_res",
      .source = "NKI documentation 2.26 and 2.32, nki.isa.tensor_scalar_reduce"};
  static constexpr std::tuple kFields{
      indirectable(out("dst", &TensorScalarReduce::dst)),
      indirectable(in("data", &TensorScalarReduce::data)),
      arg("op0", &TensorScalarReduce::op0),
      in("operand0", &TensorScalarReduce::operand0),
      arg("reduce_op", &TensorScalarReduce::reduce_op),
      opt_out("reduce_res", &TensorScalarReduce::reduce_res),
      opt("reverse0", &TensorScalarReduce::reverse0),
      opt("reduce_cmd", &TensorScalarReduce::reduce_cmd),
      opt_in("reduce_init", &TensorScalarReduce::reduce_init),
      opt("reduce_res_negate", &TensorScalarReduce::reduce_res_negate)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    check_like(rules, "data", data, "dst", dst);
    check_per_partition(rules, "operand0", operand0, data);
    check_float32(rules, "operand0", operand0);
    check_scalar_operator(rules, "op0", op0, "operand0", operand0);
    if (reverse0)
      rules.fail("reverse0", "reverse0 is not supported; swap the operands of op0 yourself");
    if (reduce_op != AluOp::kAdd && reduce_op != AluOp::kMultiply && reduce_op != AluOp::kMaximum &&
        reduce_op != AluOp::kMinimum) {
      rules.fail("reduce_op", "reduce_op {} is not add, multiply, maximum or minimum",
                 numerics::name(reduce_op));
    }
    if (!accumulates(reduce_cmd)) {
      rules.fail("reduce_cmd", "reduce_cmd must be reset_reduce, reduce or load_reduce");
    }
    if (reduce_init.present() != (reduce_cmd == ReduceCommand::kLoadReduce)) {
      rules.fail("reduce_init", "reduce_init and reduce_cmd load_reduce go together");
    }
    check_per_partition(rules, "reduce_init", reduce_init, data);
    check_float32(rules, "reduce_init", reduce_init);
    check_reduce_res(rules, reduce_res, data);
  }

  void execute(CoreState& state) const {
    float* lanes = prepare_registers(state, state.vector_accumulator, reduce_cmd, reduce_op, data,
                                     reduce_init);
    const Column operand(state, operand0, data.partitions());
    for_each_group(
        state, kReductionRows, dst, {&data},
        [&](int first, const MutableRows& y, const Rows& x) {
          numerics::binary_scalar(op0, x.data, x.stride, operand.at(first), operand.stride(), false,
                                  y.data, y.stride, y.count, y.size);
          numerics::reduce_rows(reduce_op, y.data, y.stride, y.count, y.size, lanes + first);
        },
        data);
    if (reduce_res.present()) write_result(state, lanes);
  }

  void write_result(CoreState& state, const float* lanes) const {
    if (!reduce_res_negate) return write_column(state, reduce_res, lanes);
    std::array<float, 128> negated;
    for (int p = 0; p < data.partitions(); ++p) negated[p] = -lanes[p];
    write_column(state, reduce_res, negated.data());
  }

  Cost cost(const CostModel& model) const {
    const double slow = std::max(model.stride_slowdown(dst), model.stride_slowdown(data));
    Cost cost = model.vector(static_cast<double>(data.free_elements()) * slow);
    if (reduce_res.present()) cost = with_accumulator_read(cost, model.core().vector);
    cost.flops = 2 * data.elements();
    return cost;
  }
};

}  // namespace

InstructionType insn_tensor_scalar_reduce() { return describe<TensorScalarReduce>(); }

}  // namespace trnsim::isa
