// dst = 1 / data, correctly rounded in fp32: the Vector Engine's form is the more precise of the
// two.
#include "isa/instruction.h"
#include "isa/operators.h"
#include "isa/rows.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

struct Reciprocal {
  Tile dst, data;

  static constexpr Info kInfo{
      .name = "reciprocal",
      .summary = "dst = 1 / data",
      .engines = "Vector",
      .cost = "max(MIN_II, c N) cycles, c = 6 to 8 from the catalogue; + drain",
      .source = "NKI documentation 2.26 and 2.32, nki.isa.reciprocal"};
  static constexpr std::tuple kFields{out("dst", &Reciprocal::dst), in("data", &Reciprocal::data)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    check_like(rules, "data", data, "dst", dst);
  }

  void execute(CoreState& state) const {
    for_each_block(
        state, dst, {&data},
        [](const MutableRows& y, const Rows& x) {
          numerics::binary(AluOp::kReciprocal, x.data, x.stride, x.data, x.stride, y.data, y.stride,
                           y.count, y.size);
        },
        data);
  }

  Cost cost(const CostModel& model) const {
    const double slow = std::max(model.stride_slowdown(dst), model.stride_slowdown(data));
    const double n = static_cast<double>(data.free_elements()) * slow;
    Cost cost = model.vector(n * model.core().vector.reciprocal_cycles);
    cost.flops = data.elements();
    return cost;
  }
};

}  // namespace

InstructionType insn_reciprocal() { return describe<Reciprocal>(); }

}  // namespace trnsim::isa
