// Read the only element of a tensor into a register. As with register_move, the front end keeps the
// value; the program records that the register waited for the tensor.
#include "isa/instruction.h"
#include "isa/registers.h"

namespace trnsim::isa {
namespace {

struct RegisterLoad {
  std::int32_t dst = 0;
  Tile src;

  static constexpr Info kInfo{.name = "register_load",
                              .summary = "register dst = the only element of src",
                              .engines = kRegisterEngines,
                              .cost = "one access of a register to memory",
                              .source =
                                  "NKI documentation, nki.isa.register_load; 2.21 beta, "
                                  "nki.isa.tensor_copy_dynamic_src (reading an index)"};
  static constexpr std::tuple kFields{arg("dst", &RegisterLoad::dst),
                                      in("src", &RegisterLoad::src)};

  Engine engine_on(int) const { return Engine::kSync; }

  void check(const Rules& rules) const { check_register_memory(rules, "src", src); }

  void execute(CoreState&) const {}

  Cost cost(const CostModel& model) const { return register_access_cost(model); }
};

}  // namespace

InstructionType insn_register_load() { return describe<RegisterLoad>(); }

}  // namespace trnsim::isa
