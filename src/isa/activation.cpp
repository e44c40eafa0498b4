#include "isa/activation.h"

#include "base/error.h"
#include "isa/activation_tables.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {

void ActivationCall::check(const Rules& rules) const {
  check_tile(rules, "dst", dst);
  check_like(rules, "data", data, "dst", dst);
  check_per_partition(rules, "scale", scale, data);
  check_per_partition(rules, "bias", bias, data);
  if (scale.is_tile() && scale.tile.dtype != Dtype::kFloat32) {
    rules.fail("scale_dtype", "scale is {} but must be float32",
               numerics::info(scale.tile.dtype).name);
  }
  if (bias.is_tile() && bias.tile.dtype == Dtype::kTfloat32) {
    rules.fail("bias_dtype", "bias is tfloat32; any other dtype is legal");
  }
  if (rules.generation() < 3 && bias.present()) {
    if (!bias.is_tile()) {
      rules.fail("bias_immediate",
                 "bias is a number; before NeuronCore-v3 it must be a [{}, 1] tile",
                 data.partitions());
    }
    if (op == numerics::ActivationFunction::kReciprocal) {
      rules.fail("bias_reciprocal", "reciprocal takes no bias before NeuronCore-v3");
    }
  }
  if (op == numerics::ActivationFunction::kPrelu) {
    throw Error(Fault::kMissingSpec,
                std::string(rules.instruction()) +
                    ": prelu, because no public document says where its slope comes from; use "
                    "relu, or activate2 with relu_param on NeuronCore-v4.");
  }
  check_reduce_res(rules, reduce_res, data);
}

void ActivationCall::execute(CoreState& state) const {
  const Column factor(state, scale, data.partitions());
  const Column term(state, bias, data.partitions());
  float* lanes =
      prepare_registers(state, state.scalar_accumulator, reduce_cmd, AluOp::kAdd, data, {});
  const bool scaled = scale.is_tile() || scale.scalar != 1;
  for_each_group(
      state, accumulates(reduce_cmd) ? kReductionRows : 1, dst, {&data},
      [&](int first, const MutableRows& y, const Rows& x) {
        Rows t = x;
        if (scaled) {
          numerics::binary_scalar(AluOp::kMultiply, t.data, t.stride, factor.at(first),
                                  factor.stride(), false, y.data, y.stride, y.count, y.size);
          t = {y.data, y.stride, y.count, y.size};
        }
        if (bias.present()) {
          numerics::binary_scalar(AluOp::kAdd, t.data, t.stride, term.at(first), term.stride(),
                                  false, y.data, y.stride, y.count, y.size);
          t = {y.data, y.stride, y.count, y.size};
        }
        for (std::size_t r = 0; r < y.count; ++r)
          numerics::activate(op, t.row(r), y.row(r), y.size);
        if (accumulates(reduce_cmd)) {
          numerics::reduce_rows(AluOp::kAdd, y.data, y.stride, y.count, y.size, lanes + first);
        }
      },
      data);
  if (reduce_res.present()) write_column(state, reduce_res, lanes);
}

Cost ActivationCall::cost(const CostModel& model) const {
  const catalog::ScalarEngine& scalar = model.core().scalar;
  const double slow = std::max(model.stride_slowdown(dst), model.stride_slowdown(data));
  const double cycles =
      static_cast<double>(data.free_elements()) * slow * scalar.cycles_per_element;
  const bool copies = op == numerics::ActivationFunction::kCopy;
  double drain = copies ? scalar.copy_drain : scalar.activation_drain;
  if (data.space == Space::kPsum) drain -= scalar.psum_saving;
  Cost cost = model.scalar(cycles, drain);
  // A function always reads a bias: a tile of zeros where the kernel gives none.
  if (!copies && !bias.is_tile()) cost.latency += model.operand_read(Engine::kScalar);
  if (reduce_res.present()) {
    cost = with_accumulator_read(cost, scalar);
    cost.latency += from_ns(scalar.accumulator_read_drain);
  }
  cost.table_set = table_set_of(scalar, op);
  cost.flops = data.elements();
  return cost;
}

}  // namespace trnsim::isa
