// Tensor Engine matmul: dst[m, n] (+)= sum over k of stationary[k, m] * moving[k, n]; k lies on the
// partitions. In hardware two instructions, LoadStationary and MultiplyMoving; the load overlaps
// the multiply before it.
#include "isa/instruction.h"
#include "isa/matmul_operands.h"

namespace trnsim::isa {
namespace {

struct NcMatmul {
  Tile dst, stationary, moving;
  bool is_stationary_onezero = false;
  bool is_moving_onezero = false;
  bool is_transpose = false;
  OptionalInt accumulate;
  IntList tile_position;
  IntList tile_size;
  PerfMode perf_mode = PerfMode::kNone;

  static constexpr Info kInfo{
      .name = "nc_matmul",
      .summary =
          "dst (+)= stationary.T @ moving, contracting over the partitions; is_transpose moves "
          "data unchanged",
      .engines = "Tensor",
      .cost =
          "max(min(64, columns of stationary), columns of moving) cycles, x4 for fp32; + array "
          "fill; half rate while cold; on a tile of the array, matmuls on "
          "other tiles run beside it",
      .source = "NKI documentation 2.26, nki.isa.nc_matmul; NKI architecture guides"};
  static constexpr std::tuple kFields{
      indirectable(out("dst", &NcMatmul::dst)),
      indirectable(in("stationary", &NcMatmul::stationary)),
      indirectable(in("moving", &NcMatmul::moving)),
      opt("is_stationary_onezero", &NcMatmul::is_stationary_onezero),
      opt("is_moving_onezero", &NcMatmul::is_moving_onezero),
      opt("is_transpose", &NcMatmul::is_transpose),
      opt("accumulate", &NcMatmul::accumulate),
      opt("tile_position", &NcMatmul::tile_position),
      opt("tile_size", &NcMatmul::tile_size),
      opt("perf_mode", &NcMatmul::perf_mode)};

  bool double_row() const { return perf_mode == PerfMode::kDoubleRow; }
  std::int64_t columns(const Tile& tile) const {
    return tile.free_elements() / (double_row() ? 2 : 1);
  }

  static bool is_e4m3(const Tile& tile) {
    return tile.dtype == Dtype::kFloat8E4M3 || tile.dtype == Dtype::kFloat8E4M3FN;
  }

  Engine engine_on(int) const { return Engine::kTensor; }

  void check(const Rules& rules) const {
    rules.operand("stationary", stationary, Buffers::kSbuf);
    rules.operand("moving", moving, Buffers::kSbuf);
    rules.operand("dst", dst, Buffers::kPsum);
    rules.same_partitions("stationary", stationary, "moving", moving);
    if (perf_mode != PerfMode::kNone) check_perf_mode(rules);
    const std::int64_t m = columns(stationary), n = columns(moving);
    check_product(rules, dst, m, n);
    check_dtypes(rules);
    check_indirect(rules);
    check_bank(rules, dst);
    check_array_tile(rules, tile_position, tile_size, stationary.partitions(), m);
    if (!is_transpose) check_accumulate(rules, dst, accumulate);
  }

  void check_perf_mode(const Rules& rules) const {
    if (!double_row())
      unsupported(
          "nc_matmul perf_mode other than double_row, because no public document gives its "
          "semantics");
    rules.generation_at_least(3, "perf_mode double_row");
    for (const auto& [name, tile] : {std::pair{"stationary", &stationary}, {"moving", &moving}}) {
      if (!is_fp8(*tile))
        rules.fail("double_row", "double_row takes fp8 inputs; {} is {}", name,
                   numerics::info(tile->dtype).name);
      if (tile->dims != 3 || tile->sizes[1] != 2) {
        rules.fail("double_row", "double_row takes operands of shape [P, 2, columns]; {} is not",
                   name);
      }
    }
    if (is_transpose) rules.fail("double_row", "double_row cannot be combined with is_transpose");
  }

  void check_dtypes(const Rules& rules) const {
    check_matmul_dtype(rules, "stationary", stationary);
    check_matmul_dtype(rules, "moving", moving);
    if (is_fp32_like(stationary) != is_fp32_like(moving)) {
      rules.fail("dtype_mix",
                 "stationary is {} and moving is {}; 32-bit floats go only with 32-bit floats",
                 numerics::info(stationary.dtype).name, numerics::info(moving.dtype).name);
    }
    if (is_e4m3(stationary) && is_e4m3(moving) && stationary.dtype != moving.dtype) {
      rules.fail("dtype_mix", "stationary is {} and moving is {}; the two kinds of e4m3 do not mix",
                 numerics::info(stationary.dtype).name, numerics::info(moving.dtype).name);
    }
    if (is_transpose && rules.generation() >= 3) {
      if (dst.dtype != stationary.dtype && !(is_fp8(stationary) && dst.element_bytes() == 2)) {
        rules.fail("transpose_dtype",
                   "is_transpose moves data unchanged: dst is {} but stationary is {}",
                   numerics::info(dst.dtype).name, numerics::info(stationary.dtype).name);
      }
      return;
    }
    check_result_dtype(rules, dst);
  }

  void check_indirect(const Rules& rules) const {
    if (stationary.indirection == 0 && moving.indirection == 0 && dst.indirection == 0) return;
    if (is_transpose && moving.indirection != 0)
      rules.fail("indirect", "moving cannot be an indirect tile with is_transpose");
    for (int i = 0; i < tile_position.size; ++i) {
      if (tile_position.values[i] != 0)
        rules.fail("indirect_position", "indirect tiles need tile_position (0, 0)");
    }
    for (const auto& [name, tile] : {std::pair{"stationary", &stationary}, {"moving", &moving}}) {
      if (tile->indirection != 0 && (is_fp32_like(*tile) || tile->dtype == Dtype::kFloat8E3M4)) {
        rules.fail("indirect_dtype",
                   "{} is {}; indirect operands are bf16, fp16, fp8_e4m3, fp8_e4m3fn or fp8_e5m2",
                   name, numerics::info(tile->dtype).name);
      }
    }
  }

  void execute(CoreState& state) const {
    if (is_transpose && state.generation >= 3)
      return transpose_exactly(state, dst, stationary, moving);
    multiply(state, dst, stationary, moving, double_row() ? 2 : 1, accumulate_of(accumulate));
  }

  Cost cost(const CostModel& model) const {
    const catalog::TensorEngine& tensor = model.core().tensor;
    const double m = static_cast<double>(columns(stationary)),
                 n = static_cast<double>(columns(moving));
    double cycles =
        std::max(std::min(tensor.min_issue_cycles.value, m), n) * model.stride_slowdown(moving);
    if (stationary.dtype == Dtype::kFloat32) {
      double slowdown = tensor.fp32_slowdown;
      if (is_stationary_onezero || is_moving_onezero) slowdown /= tensor.fp32_passes;
      if (is_transpose && tensor.fp32_transpose_speedup)
        slowdown = tensor.fp32_slowdown / *tensor.fp32_transpose_speedup;
      cycles *= slowdown;
    }
    Cost cost = on_array_tile(model, matmul_cost(model, m, cycles), tile_position, tile_size);
    if (!is_transpose)
      cost.flops =
          2 * static_cast<std::int64_t>(m * n) * stationary.partitions() * (double_row() ? 2 : 1);
    return cost;
  }
};

}  // namespace

InstructionType insn_nc_matmul() { return describe<NcMatmul>(); }

}  // namespace trnsim::isa
