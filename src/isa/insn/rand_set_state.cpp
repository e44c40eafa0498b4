// Load the xorwow states of an engine's lanes: partition p of src_seeds becomes the state of lane
// p. The order of the six words of a state is not public; here x y z w v d, as in
// numerics/random.h.
#include <vector>

#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/random_state.h"

namespace trnsim::isa {
namespace {

struct RandSetState {
  Tile src_seeds;
  Engine engine = Engine::kUnknown;

  static constexpr Info kInfo{.name = "rand_set_state",
                              .summary = "set the states of an engine's random numbers",
                              .engines = kRandomStateEngines,
                              .cost = kRandomStateCost,
                              .source = "NKI documentation, nki.isa.rand_set_state",
                              .since = 3};
  static constexpr std::tuple kFields{in("src_seeds", &RandSetState::src_seeds),
                                      opt("engine", &RandSetState::engine)};

  Engine engine_on(int) const { return engine == Engine::kUnknown ? Engine::kGpsimd : engine; }

  void check(const Rules& rules) const {
    check_random_state(rules, "src_seeds", src_seeds, engine_on(rules.generation()),
                       Buffers::kSbuf);
  }

  void execute(CoreState& state) const {
    RandomLanes& lanes = random_lanes(state, engine_on(state.generation));
    const std::vector<std::int64_t> values = read_integers(state, src_seeds);
    const std::vector<std::uint32_t> words(values.begin(), values.end());
    const auto size = static_cast<std::size_t>(lanes.state_words());
    for (int p = 0; p < src_seeds.partitions(); ++p)
      lanes.set_state(src_seeds.start_partition + p, {words.data() + p * size, size});
  }

  Cost cost(const CostModel& model) const {
    return random_state_cost(model, src_seeds, engine_on(model.core().version()));
  }
};

}  // namespace

InstructionType insn_rand_set_state() { return describe<RandSetState>(); }

}  // namespace trnsim::isa
