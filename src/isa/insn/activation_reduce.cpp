// activation with the registers reset before and read out after.
#include "isa/activation.h"
#include "isa/instruction.h"

namespace trnsim::isa {
namespace {

struct ActivationReduce {
  Tile dst;
  numerics::ActivationFunction op = numerics::ActivationFunction::kCopy;
  Tile data;
  AluOp reduce_op = AluOp::kAdd;
  Tile reduce_res;
  ScalarOrTile bias;
  ScalarOrTile scale = kUnitScale;

  static constexpr Info kInfo{
      .name = "activation_reduce",
      .summary = "dst = op(data * scale + bias); reduce_res = the sum of it per partition",
      .engines = "Scalar",
      .cost = "max(MIN_II, N) cycles + the registers' read; + a table load when the set changes",
      .source = "NKI documentation 2.26 and 2.32, nki.isa.activation_reduce"};
  static constexpr std::tuple kFields{indirectable(out("dst", &ActivationReduce::dst)),
                                      arg("op", &ActivationReduce::op),
                                      indirectable(in("data", &ActivationReduce::data)),
                                      arg("reduce_op", &ActivationReduce::reduce_op),
                                      opt_out("reduce_res", &ActivationReduce::reduce_res),
                                      opt_in("bias", &ActivationReduce::bias),
                                      opt_in("scale", &ActivationReduce::scale)};

  ActivationCall call() const {
    return {dst, op, data, bias, scale, reduce_res, ReduceCommand::kResetReduce};
  }

  Engine engine_on(int) const { return Engine::kScalar; }

  void check(const Rules& rules) const {
    call().check(rules);
    if (reduce_op != AluOp::kAdd) {
      rules.fail("reduce_op", "reduce_op {} must be add", numerics::name(reduce_op));
    }
  }

  void execute(CoreState& state) const { call().execute(state); }
  Cost cost(const CostModel& model) const { return call().cost(model); }
};

}  // namespace

InstructionType insn_activation_reduce() { return describe<ActivationReduce>(); }

}  // namespace trnsim::isa
