// Uniform random numbers: min + (max - min) * u in fp32, u in [0, 1) the upper 24 bits of the next
// word of the partition's lane of the Vector Engine's xorwow, then converted to dst's dtype. The
// mapping from bits to fp32 is not public.
#include <algorithm>
#include <array>
#include <vector>

#include "base/error.h"
#include "isa/instruction.h"
#include "isa/operators.h"
#include "isa/row_groups.h"

namespace trnsim::isa {
namespace {

struct Rand2 {
  Tile dst;
  ScalarOrTile min, max;

  static constexpr Info kInfo{
      .name = "rand2",
      .summary = "dst = uniform random numbers from min to max",
      .engines = "Vector",
      .cost = "max(MIN_II, N / 4) cycles; + drain",
      .source = "NKI documentation, nki.isa.rand2; Trainium3 guide, random numbers",
      .since = 4};
  static constexpr std::tuple kFields{out("dst", &Rand2::dst), in("min", &Rand2::min),
                                      in("max", &Rand2::max)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    if (!takes(dst.dtype)) {
      rules.fail("dtype", "dst is {}, which rand2 does not write", numerics::info(dst.dtype).name);
    }
    for (const auto& [name, value] : {std::pair{"min", &min}, {"max", &max}}) {
      check_per_partition(rules, name, *value, dst);
      check_float32(rules, name, *value);
    }
    if (!min.is_tile() && !max.is_tile() && !(min.scalar < max.scalar)) {
      rules.fail("range", "min {} is not less than max {}", min.scalar, max.scalar);
    }
  }

  static bool takes(Dtype dtype) {
    using enum Dtype;
    constexpr std::array kFloats{kFloat8E4M3, kFloat8E5M2, kFloat16,
                                 kBfloat16,   kFloat32,    kTfloat32};
    return numerics::info(dtype).is_integer ||
           std::find(kFloats.begin(), kFloats.end(), dtype) != kFloats.end();
  }

  void execute(CoreState& state) const {
    const Column low(state, min, dst.partitions()), high(state, max, dst.partitions());
    for (int p = 0; p < dst.partitions(); ++p) {  // of tiles the values are known only now
      if (*low.at(p) < *high.at(p)) continue;
      program_error("rand2.range", "rand2: min {} is not less than max {} in partition {}",
                    *low.at(p), *high.at(p), p);
    }
    std::vector<std::uint32_t> words(static_cast<std::size_t>(dst.free_elements()));
    for_each_group(state, 1, dst, {}, [&](int first, const MutableRows& y) {
      for (std::size_t r = 0; r < y.count; ++r) {
        const int p = first + static_cast<int>(r);
        const float base = *low.at(p), span = *high.at(p) - base;
        state.vector_random.draw(dst.start_partition + p, words);
        float* row = y.row(r);
        for (std::size_t i = 0; i < y.size; ++i)
          row[i] = base + span * numerics::unit_float(words[i]);
      }
    });
  }

  Cost cost(const CostModel& model) const {
    const double n = static_cast<double>(dst.free_elements()) * model.stride_slowdown(dst);
    return model.vector(n / model.core().vector.random_speedup);
  }
};

}  // namespace

InstructionType insn_rand2() { return describe<Rand2>(); }

}  // namespace trnsim::isa
