// Seed the Vector Engine's generator, every lane of it, from one 32-bit value. How the value is
// spread over the lanes is not public (random_lanes.h has the choice).
#include "isa/bits.h"
#include "isa/instruction.h"

namespace trnsim::isa {
namespace {

struct SetRngSeed {
  Tile src_seeds;

  static constexpr Info kInfo{.name = "set_rng_seed",
                              .summary = "seed the Vector Engine's random numbers",
                              .engines = "Vector",
                              .cost = "MIN_II cycles (no public figure); + drain",
                              .source = "NKI documentation, nki.isa.set_rng_seed"};
  static constexpr std::tuple kFields{in("src_seeds", &SetRngSeed::src_seeds)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    rules.operand("src_seeds", src_seeds, Buffers::kOnChip);
    if (src_seeds.elements() != 1) {
      rules.fail("shape", "src_seeds has {} partitions of {} elements; it must be [1, 1]",
                 src_seeds.partitions(), src_seeds.free_elements());
    }
    if (src_seeds.element_bytes() != 4) {
      rules.fail("dtype", "src_seeds is {}; the seed is a value of 32 bits",
                 numerics::info(src_seeds.dtype).name);
    }
  }

  void execute(CoreState& state) const {
    state.vector_random.seed(static_cast<std::uint32_t>(read_integers(state, src_seeds)[0]));
  }

  Cost cost(const CostModel& model) const { return model.vector(1); }
};

}  // namespace

InstructionType insn_set_rng_seed() { return describe<SetRngSeed>(); }

}  // namespace trnsim::isa
