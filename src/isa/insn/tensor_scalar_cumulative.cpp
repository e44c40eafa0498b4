// A running reduction: register = op1(op0(src[i], imm0), register), dst[i] = register. The register
// is the Vector Engine's accumulator and outlives the instruction.
#include "isa/accumulator.h"
#include "isa/instruction.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

struct TensorScalarCumulative {
  Tile dst, src;
  AluOp op0 = AluOp::kAdd;
  AluOp op1 = AluOp::kAdd;
  ScalarOrTile imm0;
  ScalarOrTile imm1;
  ReduceCommand reduce_cmd = ReduceCommand::kResetReduce;

  static constexpr Info kInfo{
      .name = "tensor_scalar_cumulative",
      .summary = "dst[i] = op1(op0(src[i], imm0), dst[i-1]), beginning with the accumulator",
      .engines = "Vector",
      .cost = "max(MIN_II, 2 N) cycles, as a scan; not published",
      .source = "NKI documentation 2.32, nki.isa.tensor_scalar_cumulative"};
  static constexpr std::tuple kFields{indirectable(out("dst", &TensorScalarCumulative::dst)),
                                      indirectable(in("src", &TensorScalarCumulative::src)),
                                      arg("op0", &TensorScalarCumulative::op0),
                                      arg("op1", &TensorScalarCumulative::op1),
                                      in("imm0", &TensorScalarCumulative::imm0),
                                      opt_in("imm1", &TensorScalarCumulative::imm1),
                                      opt("reduce_cmd", &TensorScalarCumulative::reduce_cmd)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    check_like(rules, "src", src, "dst", dst);
    check_dtype(rules, "dst", dst);
    check_dtype(rules, "src", src);
    check_per_partition(rules, "imm0", imm0, src);
    check_float32(rules, "imm0", imm0);
    check_scalar_operator(rules, "op0", op0, "imm0", imm0);
    using enum AluOp;
    if (op1 != kAdd && op1 != kSubtract && op1 != kMultiply && op1 != kMaximum && op1 != kMinimum) {
      rules.fail("op1", "op1 {} is not add, subtract, multiply, maximum or minimum",
                 numerics::name(op1));
    }
    if (!accumulates(reduce_cmd)) {
      rules.fail("reduce_cmd", "reduce_cmd must be reset_reduce, reduce or load_reduce");
    }
    if (imm1.present() != (reduce_cmd == ReduceCommand::kLoadReduce)) {
      rules.fail("imm1", "imm1 and reduce_cmd load_reduce go together");
    }
    check_per_partition(rules, "imm1", imm1, src);
    check_float32(rules, "imm1", imm1);
  }

  void check_dtype(const Rules& rules, const char* name, const Tile& tile) const {
    if (tile.dtype == Dtype::kInt32 || tile.dtype == Dtype::kUint32 ||
        tile.dtype == Dtype::kTfloat32 || tile.dtype == Dtype::kBool) {
      rules.fail("dtype", "{} is {}; float32, 16-bit and 8-bit types are legal", name,
                 numerics::info(tile.dtype).name);
    }
  }

  void execute(CoreState& state) const {
    float* lanes = prepare_registers(state, state.vector_accumulator, reduce_cmd, op1, src, imm1);
    const Column operand(state, imm0, src.partitions());
    for_each_group(
        state, kReductionRows, dst, {&src},
        [&](int first, const MutableRows& y, const Rows& x) {
          numerics::binary_scalar(op0, x.data, x.stride, operand.at(first), operand.stride(), false,
                                  y.data, y.stride, y.count, y.size);
          numerics::scan_rows({op1, AluOp::kBypass}, y.data, y.stride, nullptr, 0, lanes + first,
                              y.data, y.stride, y.count, y.size);
        },
        src);
  }

  Cost cost(const CostModel& model) const {
    const double slow = std::max(model.stride_slowdown(dst), model.stride_slowdown(src));
    Cost cost = model.vector(static_cast<double>(src.free_elements()) * slow *
                             model.core().vector.scan_cycles);
    cost.flops = 2 * src.elements();
    return cost;
  }
};

}  // namespace

InstructionType insn_tensor_scalar_cumulative() { return describe<TensorScalarCumulative>(); }

}  // namespace trnsim::isa
