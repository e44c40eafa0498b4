// dst = (data <op0> operand0) <op1> operand1 with operand0 a number or one per partition and
// operand1 a tile.
#include "isa/instruction.h"
#include "isa/operators.h"
#include "isa/row_groups.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

struct ScalarTensorTensor {
  Tile dst, data;
  AluOp op0 = AluOp::kAdd;
  ScalarOrTile operand0;
  AluOp op1 = AluOp::kAdd;
  Tile operand1;
  bool reverse0 = false;
  bool reverse1 = false;

  static constexpr Info kInfo{
      .name = "scalar_tensor_tensor",
      .summary = "dst = (data <op0> operand0) <op1> operand1; reverse0 and reverse1 swap the sides",
      .engines = "Vector",
      .cost =
          "max(MIN_II, c N) cycles; half for bf16, subtract then multiply, N even; c from the "
          "catalogue",
      .source = "NKI documentation 2.26 and 2.32, nki.isa.scalar_tensor_tensor"};
  static constexpr std::tuple kFields{out("dst", &ScalarTensorTensor::dst),
                                      in("data", &ScalarTensorTensor::data),
                                      arg("op0", &ScalarTensorTensor::op0),
                                      in("operand0", &ScalarTensorTensor::operand0),
                                      arg("op1", &ScalarTensorTensor::op1),
                                      in("operand1", &ScalarTensorTensor::operand1),
                                      opt("reverse0", &ScalarTensorTensor::reverse0),
                                      opt("reverse1", &ScalarTensorTensor::reverse1)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    check_like(rules, "data", data, "dst", dst);
    check_like(rules, "operand1", operand1, "dst", dst);
    rules.not_both_psum("data", data, "operand1", operand1);
    check_per_partition(rules, "operand0", operand0, data);
    check_scalar_operator(rules, "op0", op0, "operand0", operand0);
    check_binary(rules, "op1", op1);
  }

  void execute(CoreState& state) const {
    const Column scalar(state, operand0, data.partitions());
    for_each_group(
        state, 1, dst, {&data, &operand1},
        [&](int first, const MutableRows& y, const Rows& x, const Rows& other) {
          // Not straight into y, which may be operand1.
          float* t = working_rows(state, 4, y.count * y.size);
          const auto width = static_cast<std::ptrdiff_t>(y.size);
          numerics::binary_scalar(op0, x.data, x.stride, scalar.at(first), scalar.stride(),
                                  reverse0 && !numerics::is_unary(op0), t, width, y.count, y.size);
          if (reverse1) {
            numerics::binary(op1, other.data, other.stride, t, width, y.data, y.stride, y.count,
                             y.size);
          } else {
            numerics::binary(op1, t, width, other.data, other.stride, y.data, y.stride, y.count,
                             y.size);
          }
        },
        data, operand1);
  }

  Cost cost(const CostModel& model) const {
    const catalog::VectorEngine& vector = model.core().vector;
    const std::int64_t n = data.free_elements();
    const bool faster = data.dtype == Dtype::kBfloat16 && operand1.dtype == Dtype::kBfloat16 &&
                        op0 == AluOp::kSubtract && op1 == AluOp::kMultiply && n % 2 == 0;
    const double cycles = static_cast<double>(n) * vector.scalar_tensor_tensor_cycles /
                          (faster ? vector.tensor_tensor_16bit_speedup : 1);
    const double slow = std::max(
        {model.stride_slowdown(dst), model.stride_slowdown(data), model.stride_slowdown(operand1)});
    Cost cost = model.vector(cycles * slow);
    cost.flops = 2 * data.elements();
    return cost;
  }
};

}  // namespace

InstructionType insn_scalar_tensor_tensor() { return describe<ScalarTensorTensor>(); }

}  // namespace trnsim::isa
