// Copy a tile, converting where the dtypes differ. Equal dtypes keep every bit (Scalar on
// NeuronCore-v2 excepted).
#include "isa/instruction.h"
#include "isa/tile_copy.h"

namespace trnsim::isa {
namespace {

struct TensorCopy {
  Tile dst, src;
  Engine engine = Engine::kUnknown;

  static constexpr Info kInfo{
      .name = "tensor_copy",
      .summary = "dst = src, converted to dst's dtype",
      .engines = kCopyEngines,
      .cost = "max(MIN_II, N / s) cycles, s the copy mode of dtype and memory; + drain",
      .source = "NKI documentation 2.26, nki.isa.tensor_copy; Trainium2 guide, perf modes"};
  static constexpr std::tuple kFields{indirectable(out("dst", &TensorCopy::dst)),
                                      indirectable(in("src", &TensorCopy::src)),
                                      opt("engine", &TensorCopy::engine)};

  Engine engine_on(int) const { return engine == Engine::kUnknown ? Engine::kVector : engine; }

  void check(const Rules& rules) const {
    if (engine == Engine::kGpsimd && (dst.indirection != 0 || src.indirection != 0))
      rules.fail("indirect_engine", "indirect tiles need the Vector or Scalar engine, not GpSimd");
    check_tile_copy(rules, dst, src, engine_on(rules.generation()));
  }

  void execute(CoreState& state) const { copy_tile(state, dst, src); }

  Cost cost(const CostModel& model) const {
    return tile_copy_cost(model, dst, src, engine_on(model.core().version()));
  }
};

}  // namespace

InstructionType insn_tensor_copy() { return describe<TensorCopy>(); }

}  // namespace trnsim::isa
