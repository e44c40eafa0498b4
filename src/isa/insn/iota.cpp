// Generate affine integers: dst[p, i] = offset + p * channel_multiplier + the pattern's value at i.
// 32-bit integer destinations keep the bits of the 32-bit sum; others get it by way of fp32, as any
// cast.
#include "isa/affine.h"
#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/rows.h"

namespace trnsim::isa {
namespace {

struct Iota {
  Tile dst;
  AffinePattern pattern;
  std::int32_t offset = 0;
  std::int32_t channel_multiplier = 0;

  static constexpr Info kInfo{.name = "iota",
                              .summary = "dst[p, i] = offset + p * channel_multiplier + pattern(i)",
                              .engines = "GpSimd",
                              .cost = "start + N cycles; + drain",
                              .source = "NKI documentation 2.26, nki.isa.iota",
                              .since = 2};
  static constexpr std::tuple kFields{out("dst", &Iota::dst), arg("pattern", &Iota::pattern),
                                      opt("offset", &Iota::offset),
                                      opt("channel_multiplier", &Iota::channel_multiplier)};

  Engine engine_on(int) const { return Engine::kGpsimd; }

  void check(const Rules& rules) const {
    rules.operand("dst", dst, Buffers::kSbuf);
    check_affine(rules, pattern, "dst", dst);
    if (numerics::info(dst.dtype).packed > 1) {
      rules.fail("packed", "dst is {}; packed types hold no integers",
                 numerics::info(dst.dtype).name);
    }
  }

  void execute(CoreState& state) const {
    const std::vector<std::int32_t> row = affine_row(pattern, offset);
    const auto value = [&](std::int32_t p, std::size_t i) {
      return wrapping_add(row[i], wrapping_multiply(p, channel_multiplier));
    };
    if (is_int32(dst)) {
      std::vector<std::int64_t> values;
      values.reserve(static_cast<std::size_t>(dst.elements()));
      for (std::int32_t p = 0; p < dst.partitions(); ++p) {
        for (std::size_t i = 0; i < row.size(); ++i) values.push_back(value(p, i));
      }
      return write_integers(state, dst, values);
    }
    std::int32_t p = 0;
    for_each_block(state, dst, {}, [&](const MutableRows& y) {
      for (std::size_t r = 0; r < y.count; ++r, ++p) {
        for (std::size_t i = 0; i < y.size; ++i) y.row(r)[i] = static_cast<float>(value(p, i));
      }
    });
  }

  Cost cost(const CostModel& model) const {
    return model.gpsimd(static_cast<double>(dst.free_elements()) *
                        model.core().gpsimd->cycles_per_element);
  }
};

}  // namespace

InstructionType insn_iota() { return describe<Iota>(); }

}  // namespace trnsim::isa
