// Transpose a tile: dst[f, p] = data[p, f], free dimensions flattened. The Tensor Engine does it as
// a matmul with an identity, from SBUF to PSUM; the Vector Engine moves blocks of one quadrant.
// Both keep every bit, except that NeuronCore-v2 and before multiply in earnest: there a NaN or
// infinity spoils its whole column.
#include <algorithm>
#include <vector>

#include "isa/instruction.h"
#include "isa/matmul_operands.h"
#include "isa/rows.h"
#include "isa/slices.h"
#include "memory/stretch.h"
#include "numerics/convert.h"
#include "numerics/matmul.h"

namespace trnsim::isa {
namespace {

struct NcTranspose {
  Tile dst, data;
  Engine engine = Engine::kUnknown;

  static constexpr Info kInfo{
      .name = "nc_transpose",
      .summary = "dst[f, p] = data[p, f]",
      .engines = "Tensor (SBUF to PSUM), Vector (up to 32 x 32)",
      .cost =
          "Tensor: max(P, min(64, F)) cycles, more for fp32; + array fill. "
          "Vector: max(MIN_II, N) cycles; + drain",
      .source = "NKI documentation 2.26, nki.isa.nc_transpose; Trainium2 guide, transpose"};
  static constexpr std::tuple kFields{out("dst", &NcTranspose::dst), in("data", &NcTranspose::data),
                                      opt("engine", &NcTranspose::engine)};

  Engine engine_on(int) const {
    if (engine != Engine::kUnknown) return engine;
    return dst.space == Space::kPsum ? Engine::kTensor : Engine::kVector;
  }
  bool on_tensor() const { return engine_on(0) == Engine::kTensor; }

  void check(const Rules& rules) const {
    const Engine runs_on = engine_on(rules.generation());
    if (runs_on != Engine::kTensor && runs_on != Engine::kVector) {
      rules.fail("engine", "runs on the Tensor or Vector engine, not on {}", engine_name(runs_on));
    }
    rules.operand("data", data, on_tensor() ? Buffers::kSbuf : Buffers::kOnChip);
    rules.operand("dst", dst, on_tensor() ? Buffers::kPsum : Buffers::kOnChip);
    const std::int64_t limit =
        on_tensor() ? static_cast<std::int64_t>(rules.core().tensor.stationary_free_max)
                    : std::int64_t{kQuadrantPartitions};
    if (data.partitions() > limit || data.free_elements() > limit) {
      rules.fail("size", "data is {} x {}; the {} engine transposes at most {} x {}",
                 data.partitions(), data.free_elements(), engine_name(runs_on), limit, limit);
    }
    if (dst.partitions() != data.free_elements() || dst.free_elements() != data.partitions()) {
      rules.fail("dst_shape", "dst is {} x {} but the transpose of data is {} x {}",
                 dst.partitions(), dst.free_elements(), data.free_elements(), data.partitions());
    }
    if (on_tensor()) {
      check_tensor(rules);
    } else {
      rules.same_dtype("dst", dst, "data", data);
    }
  }

  void check_tensor(const Rules& rules) const {
    if (rules.generation() < 3) check_matmul_dtype(rules, "data", data);
    // The array writes PSUM in units of at least 16 bits: bytes go to 16-bit elements with zeros on
    // top.
    const bool widened =
        rules.generation() >= 3 && data.element_bytes() == 1 && dst.element_bytes() == 2;
    if (!widened) rules.same_dtype("dst", dst, "data", data);
    if (rules.generation() >= 3 && dst.element_bytes() == 1 && dst.free_elements() > 1 &&
        dst.inner_stride() != 2) {
      rules.fail(
          "byte_pitch",
          "dst elements of one byte lie {} bytes apart; the Tensor engine writes bytes to PSUM two "
          "apart (take every second element)",
          dst.inner_stride());
    }
    check_bank(rules, dst);
  }

  void execute(CoreState& state) const {
    if (on_tensor() && state.generation < 3) return multiply_by_identity(state);
    const auto rows = static_cast<std::size_t>(data.partitions()),
               columns = static_cast<std::size_t>(data.free_elements());
    const auto from_bytes = static_cast<std::size_t>(data.element_bytes()),
               to_bytes = static_cast<std::size_t>(dst.element_bytes());
    std::vector<std::byte> from(rows * columns * from_bytes), to(rows * columns * to_bytes);
    memory::gather(state.memory, data, from.data());
    for (std::size_t f = 0; f < columns; ++f) {
      numerics::copy_elements(static_cast<int>(from_bytes), from.data() + f * from_bytes,
                              static_cast<std::ptrdiff_t>(columns * from_bytes),
                              to.data() + f * rows * to_bytes,
                              static_cast<std::ptrdiff_t>(to_bytes), rows);
    }
    memory::scatter(state.memory, dst, to.data());
  }

  void multiply_by_identity(CoreState& state) const {
    RowReader reader(state, 1, data);
    const Rows x = reader.rows(0, data.partitions());
    std::vector<float> identity(x.count * x.count);
    for (std::size_t i = 0; i < x.count; ++i) identity[i * x.count + i] = 1;
    const auto k = static_cast<std::ptrdiff_t>(x.count);
    RowWriter writer(state, 0, dst, {});
    const MutableRows y = writer.rows(0, dst.partitions());
    numerics::matmul_accumulate(x.data, x.stride, identity.data(), k, y.data, y.stride,
                                static_cast<int>(k), static_cast<int>(x.size), static_cast<int>(k),
                                false);
    writer.commit();
  }

  Cost cost(const CostModel& model) const {
    if (!on_tensor()) {
      const double slow = std::max(model.stride_slowdown(dst), model.stride_slowdown(data));
      return model.vector(static_cast<double>(data.free_elements()) * slow);
    }
    const catalog::TensorEngine& tensor = model.core().tensor;
    const auto p = static_cast<double>(data.partitions()),
               f = static_cast<double>(data.free_elements());
    double cycles = std::max(p, std::min(tensor.min_issue_cycles.value, f));
    if (data.element_bytes() == 4)
      cycles *= tensor.fp32_slowdown /
                (tensor.fp32_transpose_speedup ? *tensor.fp32_transpose_speedup : 1.0);
    const double load = f / tensor.load_stationary_columns_per_cycle;
    const Picoseconds busy =
        from_cycles(std::max({tensor.min_issue_cycles.value, cycles, load}), tensor.clock);
    return {.occupancy = busy,
            .latency = busy + from_ns(tensor.fill_latency),
            .array_busy = busy};
  }
};

}  // namespace

InstructionType insn_nc_transpose() { return describe<NcTranspose>(); }

}  // namespace trnsim::isa
