// dst = op(data * scale + bias) by the Scalar Engine's tables, optionally summed per partition.
#include "isa/activation.h"

#include "isa/instruction.h"

namespace trnsim::isa {
namespace {

struct Activation {
  Tile dst;
  numerics::ActivationFunction op = numerics::ActivationFunction::kCopy;
  Tile data;
  ScalarOrTile bias;
  ScalarOrTile scale = kUnitScale;
  AluOp reduce_op = AluOp::kBypass;  // none
  Tile reduce_res;
  ReduceCommand reduce_cmd = ReduceCommand::kIdle;

  static constexpr Info kInfo{
      .name = "activation",
      .summary =
          "dst = op(data * scale + bias); reduce_cmd sums the result into the engine's registers",
      .engines = "Scalar",
      .cost =
          "max(MIN_II, N) cycles; + the registers' read if there is a reduce_res; + a table load "
          "when the set changes",
      .source = "NKI documentation 2.26 and 2.32, nki.isa.activation"};
  static constexpr std::tuple kFields{indirectable(out("dst", &Activation::dst)),
                                      arg("op", &Activation::op),
                                      indirectable(in("data", &Activation::data)),
                                      opt_in("bias", &Activation::bias),
                                      opt_in("scale", &Activation::scale),
                                      opt("reduce_op", &Activation::reduce_op),
                                      opt_out("reduce_res", &Activation::reduce_res),
                                      opt("reduce_cmd", &Activation::reduce_cmd)};

  ActivationCall call() const { return {dst, op, data, bias, scale, reduce_res, reduce_cmd}; }

  Engine engine_on(int) const { return Engine::kScalar; }

  void check(const Rules& rules) const {
    call().check(rules);
    if (reduce_cmd == ReduceCommand::kLoadReduce) {
      rules.fail("reduce_cmd",
                 "the Scalar engine cannot load its registers; use reset_reduce or reduce");
    }
    const bool needed = accumulates(reduce_cmd);
    if (reduce_op != AluOp::kAdd && (needed || reduce_op != AluOp::kBypass)) {
      rules.fail("reduce_op", "reduce_op must be add{}",
                 needed ? " when reduce_cmd accumulates" : "");
    }
  }

  void execute(CoreState& state) const { call().execute(state); }
  Cost cost(const CostModel& model) const { return call().cost(model); }
};

}  // namespace

InstructionType insn_activation() { return describe<Activation>(); }

}  // namespace trnsim::isa
