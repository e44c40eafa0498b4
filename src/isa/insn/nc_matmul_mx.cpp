// Tensor Engine matmul of MX operands: dst[m, n] (+)= sum over partitions k and packed elements q
// of stationary[k, m, q] * moving[k, n, q], each times its group's scale. The additions run over k
// in ascending order, over q = 0 to 3 within each k.
#include "isa/instruction.h"
#include "isa/matmul_operands.h"
#include "isa/mx_operands.h"
#include "isa/required.h"
#include "isa/row_groups.h"
#include "numerics/matmul.h"

namespace trnsim::isa {
namespace {

constexpr int kColumnsAtOnce = 256;  // decoded moving columns that stay in the second-level cache

struct NcMatmulMx {
  Tile dst, stationary, moving, stationary_scale, moving_scale;
  IntList tile_position;
  IntList tile_size;
  OptionalInt accumulate;

  static constexpr Info kInfo{
      .name = "nc_matmul_mx",
      .summary =
          "dst (+)= stationary.T @ moving of packed fp8 or fp4 values times their groups' scales, "
          "contracting over the partitions and the four packed elements",
      .engines = "Tensor",
      .cost =
          "as nc_matmul in bf16, with four times the contraction: max(min(64, columns of "
          "stationary), columns of moving) cycles; + array fill; half rate while cold",
      .source = "NKI documentation 2.32, nki.isa.nc_matmul_mx; Trainium3 guide",
      .since = 4};
  static constexpr std::tuple kFields{
      indirectable(out("dst", &NcMatmulMx::dst)),
      indirectable(in("stationary", &NcMatmulMx::stationary)),
      indirectable(in("moving", &NcMatmulMx::moving)),
      indirectable(in_part("stationary_scale", &NcMatmulMx::stationary_scale)),
      indirectable(in_part("moving_scale", &NcMatmulMx::moving_scale)),
      opt("tile_position", &NcMatmulMx::tile_position),
      opt("tile_size", &NcMatmulMx::tile_size),
      opt("accumulate", &NcMatmulMx::accumulate)};

  Engine engine_on(int) const { return Engine::kTensor; }

  void check(const Rules& rules) const {
    require_number(rules, rules.core().tensor.mx_speedup, "tensor.mx_speedup");
    check_operand(rules, "stationary", stationary, "stationary_scale", stationary_scale);
    check_operand(rules, "moving", moving, "moving_scale", moving_scale);
    rules.operand("dst", dst, Buffers::kPsum);
    rules.same_partitions("stationary", stationary, "moving", moving);
    const std::int64_t m = stationary.free_elements();
    if (m % 2 != 0)
      rules.fail("stationary_even", "stationary free size {} is odd; it must be even", m);
    check_result_dtype(rules, dst);
    check_product(rules, dst, m, moving.free_elements());
    check_bank(rules, dst);
    check_row_tile(rules);
    check_indirect(rules);
    check_accumulate(rules, dst, accumulate);
  }

  void check_operand(const Rules& rules, const char* name, const Tile& data, const char* name_scale,
                     const Tile& scale) const {
    check_mx_data(rules, name, data);
    if (numerics::info(data.dtype).packed != kMxPacked) {
      rules.fail("dtype",
                 "{} is {} but must be float8_e4m3fn_x4, float8_e5m2_x4 or float4_e2m1fn_x4", name,
                 numerics::info(data.dtype).name);
    }
    check_mx_scale(rules, name_scale, scale, name, data, data.free_elements());
    require_mx_scales(rules, name_scale, scale, data);
  }

  void check_row_tile(const Rules& rules) const {
    check_array_tile(rules, tile_position, tile_size, stationary.partitions(),
                     stationary.free_elements());
    if (tile_size.size == 0) return;
    if (tile_size.values[1] != rules.core().tensor.columns || tile_position.values[1] != 0) {
      rules.fail("row_tile",
                 "tile_position ({}, {}) and tile_size ({}, {}) tile the columns; MX matmuls take "
                 "row tiles only: column 0 and column size {}",
                 tile_position.values[0], tile_position.values[1], tile_size.values[0],
                 tile_size.values[1], rules.core().tensor.columns.value);
    }
  }

  // The index that an operand's columns are gathered by; nullptr where there is none.
  static const Tile* index_of(const Rules& rules, const Tile& tile) {
    return tile.indirection ? &rules.memory().indirection(tile.indirection).index : nullptr;
  }

  void check_indirect(const Rules& rules) const {
    for (const auto& [name, data, scale] :
         {std::tuple{"stationary", &stationary, &stationary_scale},
          {"moving", &moving, &moving_scale}}) {
      const Tile *a = index_of(rules, *data), *b = index_of(rules, *scale);
      const bool same = a && b ? a->tensor == b->tensor && a->offset == b->offset &&
                                     a->start_partition == b->start_partition &&
                                     a->sizes == b->sizes && a->strides == b->strides
                               : a == b;
      if (!same) {
        rules.fail("indirect_pair",
                   "{} and {}_scale must be indirect by the same index, or neither of them", name,
                   name);
      }
    }
    const bool tiled = tile_position.size == 2 && tile_position.values[0] != 0;
    if (tiled && (stationary.indirection || moving.indirection || dst.indirection))
      rules.fail("indirect_position", "indirect tiles need tile_position (0, 0)");
  }

  void execute(CoreState& state) const {
    const MxOperand weights(state, stationary, stationary_scale),
        values(state, moving, moving_scale);
    const int k = weights.rows(), m = weights.columns(), n = values.columns();
    float* a = working_rows(state, 4, static_cast<std::size_t>(k) * m);
    weights.decode(0, m, a);
    accumulate_product(
        state, dst, accumulate_of(accumulate), [&](float* out, std::ptrdiff_t pitch, bool add) {
          float* b = working_rows(state, 5, static_cast<std::size_t>(k) * kColumnsAtOnce);
          for (int first = 0; first < n; first += kColumnsAtOnce) {
            const int count = std::min(kColumnsAtOnce, n - first);
            values.decode(first, count, b);
            numerics::matmul_accumulate(a, m, b, count, out + first, pitch, k, m, count, add);
          }
        });
  }

  Cost cost(const CostModel& model) const {
    const catalog::TensorEngine& tensor = model.core().tensor;
    const auto m = static_cast<double>(stationary.free_elements()),
               n = static_cast<double>(moving.free_elements());
    const double columns =
        std::max(std::min(tensor.min_issue_cycles.value, m), n) * model.stride_slowdown(moving);
    Cost cost =
        on_array_tile(model, matmul_cost(model, m, columns * kMxPacked / *tensor.mx_speedup),
                      tile_position, tile_size);
    cost.flops = 2 * static_cast<std::int64_t>(m * n) * stationary.partitions() * kMxPacked;
    return cost;
  }
};

}  // namespace

InstructionType insn_nc_matmul_mx() { return describe<NcMatmulMx>(); }

}  // namespace trnsim::isa
