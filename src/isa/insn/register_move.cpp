// Put a number into a register of the engines' sequencers. Kernels branch and index with registers
// as they run, so their values live with the front end; the program records when each was set.
#include "isa/instruction.h"
#include "isa/registers.h"

namespace trnsim::isa {
namespace {

struct RegisterMove {
  std::int32_t dst = 0;
  double src = 0;

  static constexpr Info kInfo{.name = "register_move",
                              .summary = "register dst = a constant or the value of a register",
                              .engines = kRegisterEngines,
                              .cost = "one register move",
                              .source = "NKI documentation, nki.isa.register_move"};
  static constexpr std::tuple kFields{arg("dst", &RegisterMove::dst),
                                      arg("src", &RegisterMove::src)};

  Engine engine_on(int) const { return Engine::kSync; }

  void check(const Rules& rules) const { check_register_value(rules, "src", src); }

  void execute(CoreState&) const {}

  Cost cost(const CostModel& model) const {
    const Picoseconds time = from_ns(model.core().sync.register_move);
    return {.occupancy = time, .latency = time};
  }
};

}  // namespace

InstructionType insn_register_move() { return describe<RegisterMove>(); }

}  // namespace trnsim::isa
