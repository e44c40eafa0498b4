// Copy a tile, converting where the dtypes differ. Equal dtypes keep every bit (Scalar on
// NeuronCore-v2 excepted).
#include <cstring>

#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/perf_modes.h"
#include "isa/rows.h"

namespace trnsim::isa {
namespace {

struct TensorCopy {
  Tile dst, src;
  Engine engine = Engine::kUnknown;

  static constexpr Info kInfo{
      .name = "tensor_copy",
      .summary = "dst = src, converted to dst's dtype",
      .engines = "Vector, Scalar (v3 and later), GpSimd (SBUF only)",
      .cost = "max(MIN_II, N / s) cycles, s the copy mode of dtype and memory; + drain",
      .source = "NKI documentation 2.26, nki.isa.tensor_copy; Trainium2 guide, perf modes"};
  static constexpr std::tuple kFields{indirectable(out("dst", &TensorCopy::dst)),
                                      indirectable(in("src", &TensorCopy::src)),
                                      opt("engine", &TensorCopy::engine)};

  Engine engine_on(int) const { return engine == Engine::kUnknown ? Engine::kVector : engine; }

  void check(const Rules& rules) const {
    const Engine runs_on = engine_on(rules.generation());
    if (runs_on != Engine::kVector && runs_on != Engine::kScalar && runs_on != Engine::kGpsimd) {
      rules.fail("engine", "runs on the Vector, Scalar or GpSimd engine, not on {}",
                 engine_name(runs_on));
    }
    if (runs_on == Engine::kScalar) rules.generation_at_least(3, "the Scalar engine");
    if (runs_on == Engine::kGpsimd && (dst.indirection != 0 || src.indirection != 0))
      rules.fail("indirect_engine", "indirect tiles need the Vector or Scalar engine, not GpSimd");
    const Buffers buffers = runs_on == Engine::kGpsimd ? Buffers::kSbuf : Buffers::kOnChip;
    rules.operand("dst", dst, buffers);
    rules.operand("src", src, buffers);
    rules.same_partitions("dst", dst, "src", src);
    rules.same_free_size("dst", dst, "src", src);
    if (dst.dtype != src.dtype &&
        (numerics::info(dst.dtype).packed > 1 || numerics::info(src.dtype).packed > 1)) {
      rules.fail(
          "packed",
          "cannot convert {} to {}; packed types are copied as they are or made by quantize_mx",
          numerics::info(src.dtype).name, numerics::info(dst.dtype).name);
    }
  }

  void execute(CoreState& state) const {
    if (dst.dtype == src.dtype) return copy_bits(state, dst, src);
    for_each_block(
        state, dst, {&src},
        [](const MutableRows& y, const Rows& x) {
          for (std::size_t r = 0; r < y.count; ++r)
            std::memcpy(y.row(r), x.row(r), y.size * sizeof(float));
        },
        src);
  }

  Cost cost(const CostModel& model) const {
    const auto n = static_cast<double>(dst.free_elements());
    const double slow = std::max(model.stride_slowdown(dst), model.stride_slowdown(src));
    const Engine runs_on = engine_on(model.core().version());
    if (runs_on == Engine::kScalar) {
      const catalog::ScalarEngine& scalar = model.core().scalar;
      const double cycles = n * slow * scalar.cycles_per_element / scalar_speedup(scalar, dst, src);
      const double saving = src.space == Space::kPsum ? scalar.psum_saving : 0.0;
      return model.scalar(cycles, scalar.copy_drain - saving);
    }
    if (runs_on == Engine::kGpsimd)
      return model.gpsimd(n * slow * model.core().gpsimd->cycles_per_element);
    const double speedup = vector_speedup(model.core().vector, dst, src);
    return model.vector(n * slow / speedup);
  }
};

}  // namespace

InstructionType insn_tensor_copy() { return describe<TensorCopy>(); }

}  // namespace trnsim::isa
