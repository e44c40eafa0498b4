// dst = op((data <op0> imm0) <op1> imm1) by the Scalar Engine's tables, optionally reduced per
// partition: activation with a choice of operators before the function and of the reduction after
// it.
#include <algorithm>

#include "isa/activation.h"
#include "isa/instruction.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

constexpr ScalarOrTile kNone{};

struct Activate2 {
  Tile dst;
  numerics::ActivationFunction op = numerics::ActivationFunction::kCopy;
  Tile data;
  ScalarOrTile imm0, imm1;
  AluOp op0 = AluOp::kBypass, op1 = AluOp::kBypass;
  ScalarOrTile relu_param{.tile = {}, .scalar = 0, .kind = ScalarOrTile::Kind::kScalar};
  bool reverse0 = false, reverse1 = false;
  AluOp reduce_op = AluOp::kBypass;  // none
  Tile reduce_res;
  ReduceCommand reduce_cmd = ReduceCommand::kIdle;

  static constexpr Info kInfo{
      .name = "activate2",
      .summary =
          "dst = op((data <op0> imm0) <op1> imm1), relu_param the slope of prelu; reduce_cmd "
          "reduces the result into the engine's registers",
      .engines = "Scalar",
      .cost =
          "as activation: max(MIN_II, N) cycles; + the registers' read if there is a reduce_res; + "
          "a table load when the set changes; not published",
      .source = "NKI documentation 2.32, nki.isa.activate2",
      .since = 4};
  static constexpr std::tuple kFields{indirectable(out("dst", &Activate2::dst)),
                                      arg("op", &Activate2::op),
                                      indirectable(in("data", &Activate2::data)),
                                      opt_in("imm0", &Activate2::imm0),
                                      opt_in("imm1", &Activate2::imm1),
                                      opt("op0", &Activate2::op0),
                                      opt("op1", &Activate2::op1),
                                      opt_in("relu_param", &Activate2::relu_param),
                                      opt("reverse0", &Activate2::reverse0),
                                      opt("reverse1", &Activate2::reverse1),
                                      opt("reduce_op", &Activate2::reduce_op),
                                      opt_out("reduce_res", &Activate2::reduce_res),
                                      opt("reduce_cmd", &Activate2::reduce_cmd)};

  Engine engine_on(int) const { return Engine::kScalar; }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    check_like(rules, "data", data, "dst", dst);
    check_per_partition(rules, "imm0", imm0, data);
    check_per_partition(rules, "imm1", imm1, data);
    check_per_partition(rules, "relu_param", relu_param, data);
    if (imm0.is_tile() && imm1.is_tile()) rules.same_dtype("imm0", imm0.tile, "imm1", imm1.tile);
    check_operators(rules);
    check_reduction(rules);
  }

  void check_operators(const Rules& rules) const {
    using enum AluOp;
    const bool legal = op0 == kMultiply
                           ? op1 == kAdd || op1 == kSubtract || op1 == kBypass
                           : (op0 == kAdd || op0 == kSubtract || op0 == kBypass) && op1 == kBypass;
    if (!legal) {
      rules.fail("op_pair",
                 "op0 {} and op1 {}: legal are multiply with add, subtract or bypass, and add, "
                 "subtract or bypass with bypass",
                 numerics::name(op0), numerics::name(op1));
    }
    if ((reverse0 && op0 == kBypass) || (reverse1 && op1 == kBypass))
      rules.fail("reverse", "reverse0 needs op0, and reverse1 needs op1");
    if ((op0 != kBypass && !imm0.present()) || (op1 != kBypass && !imm1.present()))
      rules.fail("operand", "op0 {} and op1 {} need imm0 and imm1 where they are not bypass",
                 numerics::name(op0), numerics::name(op1));
  }

  void check_reduction(const Rules& rules) const {
    if (reduce_cmd == ReduceCommand::kLoadReduce) {
      rules.fail("reduce_cmd",
                 "the Scalar engine cannot load its registers; use reset_reduce or reduce");
    }
    constexpr std::array kLegal{AluOp::kAdd, AluOp::kMaximum, AluOp::kMinimum, AluOp::kAbsMax,
                                AluOp::kAbsMin};
    const bool needed = reduce_cmd != ReduceCommand::kIdle;
    if (std::find(kLegal.begin(), kLegal.end(), reduce_op) == kLegal.end() &&
        (needed || reduce_op != AluOp::kBypass)) {
      rules.fail("reduce_op", "reduce_op must be add, maximum, minimum, abs_max or abs_min{}",
                 needed ? " when reduce_cmd is not idle" : "");
    }
    check_reduce_res(rules, reduce_res, data);
  }

  void execute(CoreState& state) const {
    const Column first_operand(state, imm0, data.partitions());
    const Column second_operand(state, imm1, data.partitions());
    const Column slope(state, relu_param, data.partitions());
    float* lanes =
        prepare_registers(state, state.scalar_accumulator, reduce_cmd, reduce_op, data, {});
    for_each_group(
        state, accumulates(reduce_cmd) ? kReductionRows : 1, dst, {&data},
        [&](int first, const MutableRows& y, const Rows& x) {
          Rows t = x;
          const auto apply = [&](AluOp alu, const Column& operand, bool reverse) {
            if (alu == AluOp::kBypass) return;
            numerics::binary_scalar(alu, t.data, t.stride, operand.at(first), operand.stride(),
                                    reverse, y.data, y.stride, y.count, y.size);
            t = {y.data, y.stride, y.count, y.size};
          };
          apply(op0, first_operand, reverse0);
          apply(op1, second_operand, reverse1);
          for (std::size_t r = 0; r < y.count; ++r) {
            const float alpha = *slope.at(first + static_cast<int>(r));
            numerics::activate(op, t.row(r), y.row(r), y.size, alpha);
          }
          if (accumulates(reduce_cmd))
            numerics::reduce_rows(reduce_op, y.data, y.stride, y.count, y.size, lanes + first);
        },
        data);
    if (reduce_res.present()) write_column(state, reduce_res, lanes);
  }

  Cost cost(const CostModel& model) const {
    return ActivationCall{dst, op, data, kNone, kUnitScale, reduce_res, reduce_cmd}.cost(model);
  }
};

}  // namespace

InstructionType insn_activate2() { return describe<Activate2>(); }

}  // namespace trnsim::isa
