// Fill a tile with one value.
#include <algorithm>
#include <cmath>

#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/rows.h"
#include "numerics/dtype.h"

namespace trnsim::isa {
namespace {

struct Memset {
  Tile dst;
  double value = 0;
  Engine engine = Engine::kUnknown;

  static constexpr Info kInfo{.name = "memset",
                              .summary = "dst = value",
                              .engines = "Vector; GpSimd (SBUF only)",
                              .cost = "max(MIN_II, N) cycles, N/2 for 0 in 16-bit floats; + drain",
                              .source = "NKI documentation 2.26, nki.isa.memset"};
  static constexpr std::tuple kFields{out("dst", &Memset::dst), arg("value", &Memset::value),
                                      opt("engine", &Memset::engine)};

  Engine engine_on(int) const { return engine == Engine::kUnknown ? Engine::kVector : engine; }

  void check(const Rules& rules) const {
    const Engine runs_on = engine_on(rules.generation());
    if (runs_on != Engine::kVector && runs_on != Engine::kGpsimd) {
      rules.fail("engine", "runs on the Vector or GpSimd engine, not on {}", engine_name(runs_on));
    }
    rules.operand("dst", dst, runs_on == Engine::kGpsimd ? Buffers::kSbuf : Buffers::kOnChip);
    const numerics::DtypeInfo& info = numerics::info(dst.dtype);
    if (info.is_integer &&
        (value != std::trunc(value) || value < info.lowest || value > info.max_finite)) {
      rules.fail("value", "value {} is not a {}", value, info.name);
    }
    if (numerics::info(dst.dtype).packed > 1 && value != 0) {
      rules.fail("packed", "dst is {}; packed types can only be set to 0",
                 numerics::info(dst.dtype).name);
    }
  }

  void execute(CoreState& state) const {
    if (numerics::info(dst.dtype).is_integer) {
      const auto bits = static_cast<std::int64_t>(value);
      return write_integers(
          state, dst, std::vector<std::int64_t>(static_cast<std::size_t>(dst.elements()), bits));
    }
    for_each_block(state, dst, {}, [&](const MutableRows& y) {
      for (std::size_t r = 0; r < y.count; ++r)
        std::fill_n(y.row(r), y.size, static_cast<float>(value));
    });
  }

  Cost cost(const CostModel& model) const {
    const auto n = static_cast<double>(dst.free_elements());
    if (engine_on(model.core().version()) == Engine::kGpsimd) {
      return model.gpsimd(n * model.core().gpsimd->cycles_per_element);
    }
    const double speedup =
        value == 0 && is_16bit_float(dst) ? model.core().vector.memset_speedup.value : 1.0;
    return model.vector(n * model.stride_slowdown(dst) / speedup);
  }
};

}  // namespace

InstructionType insn_memset() { return describe<Memset>(); }

}  // namespace trnsim::isa
