// dst = (data <op0> operand0) <op1> operand1, the operands one number each or one per partition.
#include <cmath>

#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/operators.h"
#include "isa/perf_modes.h"
#include "isa/row_groups.h"
#include "memory/stretch.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

struct TensorScalar {
  Tile dst, data;
  AluOp op0 = AluOp::kAdd;
  ScalarOrTile operand0;
  bool reverse0 = false;
  AluOp op1 = AluOp::kBypass;  // none
  ScalarOrTile operand1;
  bool reverse1 = false;
  Engine engine = Engine::kUnknown;

  static constexpr Info kInfo{
      .name = "tensor_scalar",
      .summary = "dst = (data <op0> operand0) <op1> operand1; reverse0 and reverse1 swap the sides",
      .engines = "Vector; Scalar (v3 and later: multiply and add); GpSimd (rsqrt)",
      .cost =
          "max(MIN_II, N / s) cycles, s the copy mode of dtype and memory; rsqrt on GpSimd start + "
          "4 N",
      .source =
          "NKI documentation 2.26 and 2.32, nki.isa.tensor_scalar; Trainium2 guide, perf modes"};
  static constexpr std::tuple kFields{indirectable(out("dst", &TensorScalar::dst)),
                                      indirectable(in("data", &TensorScalar::data)),
                                      arg("op0", &TensorScalar::op0),
                                      opt_in("operand0", &TensorScalar::operand0),
                                      opt("reverse0", &TensorScalar::reverse0),
                                      opt("op1", &TensorScalar::op1),
                                      opt_in("operand1", &TensorScalar::operand1),
                                      opt("reverse1", &TensorScalar::reverse1),
                                      opt("engine", &TensorScalar::engine)};

  bool has_op1() const { return op1 != AluOp::kBypass; }

  Engine engine_on(int) const {
    if (engine != Engine::kUnknown) return engine;
    return op0 == AluOp::kRsqrt ? Engine::kGpsimd : Engine::kVector;
  }

  void check(const Rules& rules) const {
    const Engine runs_on = engine_on(rules.generation());
    check_tile(rules, "dst", dst, runs_on == Engine::kGpsimd ? Buffers::kSbuf : Buffers::kOnChip);
    check_tile(rules, "data", data, runs_on == Engine::kGpsimd ? Buffers::kSbuf : Buffers::kOnChip);
    check_like(rules, "data", data, "dst", dst);
    if ((dst.indirection != 0 || data.indirection != 0) && is_int32(dst) && is_int32(data) &&
        !numerics::is_bitvec(op0)) {
      rules.fail("indirect_address",
                 "arithmetic on 32-bit integers (address arithmetic) takes no indirect tiles");
    }
    check_per_partition(rules, "operand0", operand0, data);
    check_per_partition(rules, "operand1", operand1, data);
    if (!has_op1() && operand1.present()) rules.fail("operand", "operand1 is given without op1");
    switch (runs_on) {
      case Engine::kVector:
        return check_vector(rules);
      case Engine::kScalar:
        return check_scalar(rules);
      case Engine::kGpsimd:
        return check_gpsimd(rules);
      default:
        rules.fail("engine", "runs on the Vector, Scalar or GpSimd engine, not on {}",
                   engine_name(runs_on));
    }
  }

  void check_vector(const Rules& rules) const {
    const bool bits = numerics::is_bitvec(op0);
    if (has_op1() && numerics::is_bitvec(op1) != bits) {
      rules.fail("op_mix", "op0 {} and op1 {} must be both bitwise or both arithmetic",
                 numerics::name(op0), numerics::name(op1));
    }
    if (bits) return check_bits(rules);
    check_float32(rules, "operand0", operand0);
    check_float32(rules, "operand1", operand1);
    check_scalar_operator(rules, "op0", op0, "operand0", operand0);
    if (has_op1()) check_scalar_operator(rules, "op1", op1, "operand1", operand1, false);
  }

  void check_bits(const Rules& rules) const {
    rules.integer_bits("data", data);
    rules.integer_bits("dst", dst);
    check_width(rules, "dst", dst);
    check_bit_operand(rules, "op0", op0, "operand0", operand0);
    if (has_op1()) check_bit_operand(rules, "op1", op1, "operand1", operand1);
  }

  void check_width(const Rules& rules, const char* name, const Tile& tile) const {
    if (tile.element_bytes() != data.element_bytes()) {
      rules.fail("bit_width", "{} is {} and data is {}; bitwise operators do not convert", name,
                 numerics::info(tile.dtype).name, numerics::info(data.dtype).name);
    }
  }

  void check_bit_operand(const Rules& rules, const char* name, AluOp op, const char* name_operand,
                         const ScalarOrTile& operand) const {
    if (numerics::is_unary(op)) {
      if (operand.is_tile() || operand.scalar != 0) {
        rules.fail("unary_operand", "{} {} takes no operand", name, numerics::name(op));
      }
      return;
    }
    if (!operand.present())
      rules.fail("operand", "{} {} needs {}", name, numerics::name(op), name_operand);
    if (operand.is_tile()) {
      rules.integer_bits(name_operand, operand.tile);
      return check_width(rules, name_operand, operand.tile);
    }
    const double limit = std::ldexp(1.0, 8 * data.element_bytes());
    if (operand.scalar != std::trunc(operand.scalar) || operand.scalar >= limit ||
        operand.scalar < -limit / 2) {
      rules.fail("bit_operand", "{} {} is not an integer of {} bits", name_operand, operand.scalar,
                 8 * data.element_bytes());
    }
  }

  void check_scalar(const Rules& rules) const {
    rules.generation_at_least(3, "the Scalar engine");
    const bool legal = (op0 == AluOp::kMultiply && (!has_op1() || op1 == AluOp::kAdd)) ||
                       (op0 == AluOp::kAdd && !has_op1());
    if (!legal) {
      rules.fail(
          "scalar_ops", "the Scalar engine takes multiply, add, or multiply then add; not {}{}{}",
          numerics::name(op0), has_op1() ? " then " : "", has_op1() ? numerics::name(op1) : "");
    }
    check_vector(rules);
  }

  void check_gpsimd(const Rules& rules) const {
    if (!rules.core().gpsimd) rules.fail("engine", "there is no GpSimd engine");
    if (op0 != AluOp::kRsqrt || has_op1()) {
      rules.fail("gpsimd_ops", "the GpSimd engine takes rsqrt alone; not {}{}{}",
                 numerics::name(op0), has_op1() ? " then " : "",
                 has_op1() ? numerics::name(op1) : "");
    }
    if (operand0.is_tile() || operand0.scalar != 0) {
      rules.fail("unary_operand", "op0 rsqrt takes no operand; operand0 must be None or 0");
    }
  }

  void execute(CoreState& state) const {
    if (numerics::is_bitvec(op0)) return execute_bits(state);
    const Column first_operand(state, operand0, data.partitions());
    const Column second_operand(state, operand1, data.partitions());
    for_each_group(
        state, 1, dst, {&data},
        [&](int first, const MutableRows& y, const Rows& x) {
          numerics::binary_scalar(op0, x.data, x.stride, first_operand.at(first),
                                  first_operand.stride(), reverse0 && !numerics::is_unary(op0),
                                  y.data, y.stride, y.count, y.size);
          if (!has_op1()) return;
          numerics::binary_scalar(op1, y.data, y.stride, second_operand.at(first),
                                  second_operand.stride(), reverse1 && !numerics::is_unary(op1),
                                  y.data, y.stride, y.count, y.size);
        },
        data);
  }

  void execute_bits(CoreState& state) const {
    std::vector<std::byte> bits(static_cast<std::size_t>(data.bytes()));
    memory::gather(state.memory, data, bits.data());
    apply_bits(state, op0, operand0, reverse0, bits);
    if (has_op1()) apply_bits(state, op1, operand1, reverse1, bits);
    memory::scatter(state.memory, dst, bits.data());
  }

  void apply_bits(CoreState& state, AluOp op, const ScalarOrTile& operand, bool reverse,
                  std::vector<std::byte>& bits) const {
    const auto immediate =
        static_cast<std::int64_t>(operand.scalar);  // two's complement, low bytes first
    std::vector<std::byte> column(reinterpret_cast<const std::byte*>(&immediate),
                                  reinterpret_cast<const std::byte*>(&immediate + 1));
    if (operand.is_tile()) {
      column.resize(static_cast<std::size_t>(operand.tile.bytes()));
      memory::gather(state.memory, operand.tile, column.data());
    }
    const auto n = static_cast<std::ptrdiff_t>(data.free_elements());
    numerics::bitwise_scalar(op, data.element_bytes(), bits.data(), n, column.data(),
                             operand.is_tile() ? 1 : 0, reverse && !numerics::is_unary(op),
                             bits.data(), n, static_cast<std::size_t>(data.partitions()),
                             static_cast<std::size_t>(n));
  }

  Cost cost(const CostModel& model) const {
    const catalog::Core& core = model.core();
    const double slow = std::max(model.stride_slowdown(dst), model.stride_slowdown(data));
    const double n = static_cast<double>(data.free_elements()) * slow;
    const Engine runs_on = engine_on(core.version());
    Cost cost;
    if (runs_on == Engine::kScalar) {
      const double rate = scalar_speedup(core.scalar, dst, data);
      cost = model.scalar(n * core.scalar.cycles_per_element / rate, core.scalar.copy_drain);
    } else if (runs_on == Engine::kGpsimd) {
      cost = model.gpsimd(n * core.gpsimd->rsqrt_cycles);
    } else {
      cost = model.vector(n / vector_speedup(core.vector, dst, data));
    }
    cost.flops = data.elements() * (has_op1() ? 2 : 1);
    return cost;
  }
};

}  // namespace

InstructionType insn_tensor_scalar() { return describe<TensorScalar>(); }

}  // namespace trnsim::isa
