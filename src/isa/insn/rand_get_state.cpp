// Store the xorwow states of an engine's lanes, as rand_set_state takes them.
#include <vector>

#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/random_state.h"

namespace trnsim::isa {
namespace {

struct RandGetState {
  Tile dst;
  Engine engine = Engine::kUnknown;

  static constexpr Info kInfo{.name = "rand_get_state",
                              .summary = "dst = the states of an engine's random numbers",
                              .engines = kRandomStateEngines,
                              .cost = kRandomStateCost,
                              .source = "NKI documentation, nki.isa.rand_get_state",
                              .since = 3};
  static constexpr std::tuple kFields{out("dst", &RandGetState::dst),
                                      opt("engine", &RandGetState::engine)};

  Engine engine_on(int) const { return engine == Engine::kUnknown ? Engine::kGpsimd : engine; }

  void check(const Rules& rules) const {
    const Engine runs_on = engine_on(rules.generation());
    check_random_state(rules, "dst", dst, runs_on,
                       runs_on == Engine::kVector ? Buffers::kOnChip : Buffers::kSbuf);
  }

  void execute(CoreState& state) const {
    const RandomLanes& lanes = random_lanes(state, engine_on(state.generation));
    std::vector<std::int64_t> values;
    for (int p = 0; p < dst.partitions(); ++p) {
      const std::vector<std::uint32_t> words = lanes.state(dst.start_partition + p);
      values.insert(values.end(), words.begin(), words.end());
    }
    write_integers(state, dst, values);
  }

  Cost cost(const CostModel& model) const {
    return random_state_cost(model, dst, engine_on(model.core().version()));
  }
};

}  // namespace

InstructionType insn_rand_get_state() { return describe<RandGetState>(); }

}  // namespace trnsim::isa
