// Write the value of a register into a tensor of one element, converted to its dtype.
#include <cmath>
#include <vector>

#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/registers.h"
#include "numerics/convert.h"

namespace trnsim::isa {
namespace {

struct RegisterStore {
  Tile dst;
  double src = 0;

  static constexpr Info kInfo{.name = "register_store",
                              .summary = "dst = the value of a register",
                              .engines = kRegisterEngines,
                              .cost = "one access of a register to memory (no public figure)",
                              .source = "NKI documentation, nki.isa.register_store"};
  static constexpr std::tuple kFields{out("dst", &RegisterStore::dst),
                                      arg("src", &RegisterStore::src)};

  Engine engine_on(int) const { return Engine::kSync; }

  void check(const Rules& rules) const {
    check_register_memory(rules, "dst", dst);
    check_register_value(rules, "src", src);
  }

  void execute(CoreState& state) const {
    // Of an integer all 32 bits, of which a narrow type keeps the low ones.
    if (numerics::info(dst.dtype).is_integer && src == std::floor(src))
      return write_integers(state, dst, {static_cast<std::int64_t>(src)});
    const auto value = static_cast<float>(src);
    numerics::from_float(dst.dtype, &value, state.memory.data(dst), dst.element_bytes(), 1);
  }

  Cost cost(const CostModel& model) const { return register_access_cost(model); }
};

}  // namespace

InstructionType insn_register_store() { return describe<RegisterStore>(); }

}  // namespace trnsim::isa
