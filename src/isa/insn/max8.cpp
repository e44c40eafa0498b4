// The eight largest elements of each partition, in descending order. Compared as fp32; a NaN counts
// as the largest.
#include <algorithm>
#include <cmath>

#include "isa/instruction.h"
#include "isa/rows.h"
#include "isa/top8.h"

namespace trnsim::isa {
namespace {

bool before(float a, float b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

struct Max8 {
  Tile dst, src;

  static constexpr Info kInfo{
      .name = "max8",
      .summary = "dst = the 8 largest elements of each partition of src, descending",
      .engines = "Vector",
      .cost = "max(MIN_II, N) cycles; + drain",
      .source = "NKI documentation 2.26, nki.isa.max8"};
  static constexpr std::tuple kFields{out("dst", &Max8::dst), in("src", &Max8::src)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_searched(rules, "src", src);
    check_slots(rules, "dst", dst);
    rules.same_partitions("dst", dst, "src", src);
  }

  void execute(CoreState& state) const {
    for_each_block(
        state, dst, {&src},
        [](const MutableRows& y, const Rows& x) {
          for (std::size_t r = 0; r < y.count; ++r) {
            std::partial_sort_copy(x.row(r), x.row(r) + x.size, y.row(r), y.row(r) + kSlots,
                                   before);
          }
        },
        src);
  }

  Cost cost(const CostModel& model) const {
    return model.vector(static_cast<double>(src.free_elements()) * model.stride_slowdown(src));
  }
};

}  // namespace

InstructionType insn_max8() { return describe<Max8>(); }

}  // namespace trnsim::isa
