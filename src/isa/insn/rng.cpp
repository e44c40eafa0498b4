// Random bits: each element takes the low bits of the next 32-bit word of its partition's lane of
// the engine's generator (random_lanes.h).
#include <vector>

#include "isa/bits.h"
#include "isa/instruction.h"

namespace trnsim::isa {
namespace {

struct Rng {
  Tile dst;
  Engine engine = Engine::kUnknown;

  static constexpr Info kInfo{
      .name = "rng",
      .summary = "dst = random bits, the low ones of a 32-bit word for each element",
      .engines = "Vector, GpSimd (v3 and later, SBUF only)",
      .cost =
          "Vector: max(MIN_II, N / words per cycle) cycles; GpSimd: start + c N cycles (no "
          "public figure); + drain",
      .source = "NKI documentation, nki.isa.rng"};
  static constexpr std::tuple kFields{out("dst", &Rng::dst), opt("engine", &Rng::engine)};

  Engine engine_on(int) const { return engine == Engine::kUnknown ? Engine::kVector : engine; }
  bool on_gpsimd() const { return engine == Engine::kGpsimd; }

  void check(const Rules& rules) const {
    const Engine runs_on = engine_on(rules.generation());
    if (runs_on != Engine::kVector && runs_on != Engine::kGpsimd) {
      rules.fail("engine", "runs on the Vector or GpSimd engine, not on {}", engine_name(runs_on));
    }
    if (on_gpsimd()) rules.generation_at_least(3, "random numbers of GpSimd");
    rules.operand("dst", dst, on_gpsimd() ? Buffers::kSbuf : Buffers::kOnChip);
    if (!numerics::info(dst.dtype).is_integer) {
      rules.fail("dtype", "dst is {}; random bits go to integer types of 8, 16 or 32 bits",
                 numerics::info(dst.dtype).name);
    }
  }

  void execute(CoreState& state) const {
    RandomLanes& random = on_gpsimd() ? state.gpsimd_random : state.vector_random;
    std::vector<std::uint32_t> words(static_cast<std::size_t>(dst.free_elements()));
    std::vector<std::int64_t> values;
    values.reserve(static_cast<std::size_t>(dst.elements()));
    for (int p = 0; p < dst.partitions(); ++p) {
      random.draw(dst.start_partition + p, words);
      values.insert(values.end(), words.begin(), words.end());
    }
    write_integers(state, dst, values);
  }

  Cost cost(const CostModel& model) const {
    const double n = static_cast<double>(dst.free_elements()) * model.stride_slowdown(dst);
    if (on_gpsimd()) return model.gpsimd(n * model.core().gpsimd->random_cycles);
    return model.vector(n / model.core().vector.random_speedup);
  }
};

}  // namespace

InstructionType insn_rng() { return describe<Rng>(); }

}  // namespace trnsim::isa
