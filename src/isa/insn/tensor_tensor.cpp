// Elementwise dst = data1 <op> data2 over two tiles of the same size.
#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/operators.h"
#include "isa/rows.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

struct TensorTensor {
  Tile dst, data1, data2;
  AluOp op = AluOp::kAdd;
  Engine engine = Engine::kUnknown;

  static constexpr Info kInfo{
      .name = "tensor_tensor",
      .summary = "dst = data1 <op> data2, element by element",
      .engines = "Vector; GpSimd for power and for 32-bit integer tiles in SBUF",
      .cost =
          "max(MIN_II, N) with one input in PSUM or 16-bit floats in SBUF, else max(MIN_II, c N); "
          "c from the catalogue",
      .source = "NKI documentation 2.26, nki.isa.tensor_tensor"};
  static constexpr std::tuple kFields{
      indirectable(out("dst", &TensorTensor::dst)), indirectable(in("data1", &TensorTensor::data1)),
      in("data2", &TensorTensor::data2), arg("op", &TensorTensor::op),
      opt("engine", &TensorTensor::engine)};

  bool all_int32() const { return is_int32(dst) && is_int32(data1) && is_int32(data2); }
  bool any_psum() const {
    return dst.space == Space::kPsum || data1.space == Space::kPsum || data2.space == Space::kPsum;
  }

  Engine engine_on(int) const {
    if (engine != Engine::kUnknown) return engine;
    if (op == AluOp::kPower) return Engine::kGpsimd;
    return all_int32() && !numerics::is_bitvec(op) && !any_psum() ? Engine::kGpsimd
                                                                  : Engine::kVector;
  }

  void check(const Rules& rules) const {
    const Engine runs_on = engine_on(rules.generation());
    const Buffers buffers = runs_on == Engine::kGpsimd ? Buffers::kSbuf : Buffers::kOnChip;
    check_tile(rules, "dst", dst, buffers);
    check_tile(rules, "data1", data1, buffers);
    check_tile(rules, "data2", data2, buffers);
    rules.same_partitions("data1", data1, "data2", data2);
    rules.same_partitions("data1", data1, "dst", dst);
    rules.same_free_size("data1", data1, "data2", data2);
    rules.same_free_size("data1", data1, "dst", dst);
    rules.not_both_psum("data1", data1, "data2", data2);
    if (numerics::is_unary(op)) rules.fail("op", "op {} takes one operand", numerics::name(op));
    if (numerics::is_bitvec(op)) {
      for (const auto& [name, tile] :
           {std::pair{"data1", &data1}, {"data2", &data2}, {"dst", &dst}}) {
        rules.integer_bits(name, *tile);
      }
      if (runs_on != Engine::kVector)
        rules.fail("engine", "bitwise operations run on the Vector engine only");
    }
    if (op == AluOp::kPower && runs_on != Engine::kGpsimd)
      rules.fail("engine", "power runs on the GpSimd engine only");
    if (op == AluOp::kAbsMax || op == AluOp::kAbsMin)
      rules.generation_at_least(4, "op abs_max/abs_min");
    if (runs_on != Engine::kVector && runs_on != Engine::kGpsimd) {
      rules.fail("engine", "runs on the Vector or GpSimd engine, not on {}", engine_name(runs_on));
    }
  }

  void execute(CoreState& state) const {
    if (numerics::is_bitvec(op)) return integer_tiles(state, op, dst, data1, data2);
    if (engine_on(state.generation) == Engine::kGpsimd && all_int32())
      return integer_tiles(state, op, dst, data1, data2);
    for_each_block(
        state, dst, {&data1, &data2},
        [&](const MutableRows& y, const Rows& a, const Rows& b) {
          numerics::binary(op, a.data, a.stride, b.data, b.stride, y.data, y.stride, y.count,
                           y.size);
        },
        data1, data2);
  }

  Cost cost(const CostModel& model) const {
    const auto n = static_cast<double>(dst.free_elements());
    Cost cost;
    if (engine_on(model.core().version()) == Engine::kGpsimd) {
      cost = model.gpsimd(n * model.core().gpsimd->cycles_per_element);
    } else {
      const catalog::VectorEngine& engine_spec = model.core().vector;
      const bool half = is_16bit_float(dst) && is_16bit_float(data1) && is_16bit_float(data2);
      const double cycles = any_psum() ? n * engine_spec.tensor_tensor_psum_cycles
                            : half     ? n / engine_spec.tensor_tensor_16bit_speedup
                                       : n * engine_spec.tensor_tensor_cycles;
      const double slow = std::max(
          {model.stride_slowdown(dst), model.stride_slowdown(data1), model.stride_slowdown(data2)});
      cost = model.vector(cycles * slow);
    }
    cost.flops = dst.elements();
    return cost;
  }
};

}  // namespace

InstructionType insn_tensor_tensor() { return describe<TensorTensor>(); }

}  // namespace trnsim::isa
