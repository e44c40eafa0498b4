// A recurrence along the free dimensions: r[i] = op1(op0(data0[i], r[i-1]), data1[i]) with r[-1] =
// initial. The state stays in fp32; dst gets it converted.
#include "isa/instruction.h"
#include "isa/operators.h"
#include "isa/row_groups.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

struct TensorTensorScan {
  Tile dst, data0, data1;
  ScalarOrTile initial;
  AluOp op0 = AluOp::kMultiply;
  AluOp op1 = AluOp::kAdd;
  bool reverse0 = false;
  bool reverse1 = false;

  static constexpr Info kInfo{
      .name = "tensor_tensor_scan",
      .summary =
          "dst[i] = op1(op0(data0[i], dst[i-1]), data1[i]); reverse0 and reverse1 swap the sides",
      .engines = "Vector",
      .cost = "max(MIN_II, 2 N) cycles; + drain",
      .source = "NKI documentation 2.26 and 2.32, nki.isa.tensor_tensor_scan"};
  static constexpr std::tuple kFields{
      out("dst", &TensorTensorScan::dst),           in("data0", &TensorTensorScan::data0),
      in("data1", &TensorTensorScan::data1),        in("initial", &TensorTensorScan::initial),
      arg("op0", &TensorTensorScan::op0),           arg("op1", &TensorTensorScan::op1),
      opt("reverse0", &TensorTensorScan::reverse0), opt("reverse1", &TensorTensorScan::reverse1)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    check_like(rules, "data0", data0, "dst", dst);
    check_like(rules, "data1", data1, "dst", dst);
    rules.not_both_psum("data0", data0, "data1", data1);
    check_per_partition(rules, "initial", initial, data0);
    check_binary(rules, "op0", op0);
    check_binary(rules, "op1", op1);
  }

  void execute(CoreState& state) const {
    const Column start(state, initial, data0.partitions());
    std::array<float, 128> states;
    for (int p = 0; p < data0.partitions(); ++p) states[p] = *start.at(p);
    const numerics::ScanOps ops{op0, op1, reverse0, reverse1};
    for_each_group(
        state, kReductionRows, dst, {&data0, &data1},
        [&](int first, const MutableRows& y, const Rows& a, const Rows& b) {
          numerics::scan_rows(ops, a.data, a.stride, b.data, b.stride, states.data() + first,
                              y.data, y.stride, y.count, y.size);
        },
        data0, data1);
  }

  Cost cost(const CostModel& model) const {
    const double slow = std::max(
        {model.stride_slowdown(dst), model.stride_slowdown(data0), model.stride_slowdown(data1)});
    Cost cost = model.vector(static_cast<double>(data0.free_elements()) * slow *
                             model.core().vector.scan_cycles);
    cost.flops = 2 * data0.elements();
    return cost;
  }
};

}  // namespace

InstructionType insn_tensor_tensor_scan() { return describe<TensorTensorScan>(); }

}  // namespace trnsim::isa
