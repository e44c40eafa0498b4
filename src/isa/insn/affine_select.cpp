// Select by position: dst = on_true_tile where the affine value of the element compares true with
// 0, else a constant. The usual use is a causal mask. Equal dtypes keep the bits of what is
// selected.
#include <cstring>

#include "isa/affine.h"
#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/rows.h"
#include "numerics/convert.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

struct AffineSelect {
  Tile dst;
  AffinePattern pattern;
  std::int32_t channel_multiplier = 0;
  Tile on_true_tile;
  float on_false_value = 0;
  AluOp cmp_op = AluOp::kEqual;
  std::int32_t offset = 0;

  static constexpr Info kInfo{.name = "affine_select",
                              .summary =
                                  "dst = on_true_tile where offset + p * channel_multiplier + "
                                  "pattern(i) <cmp_op> 0, else on_false_value",
                              .engines = "GpSimd",
                              .cost = "start + N cycles; + drain",
                              .source = "NKI documentation 2.26, nki.isa.affine_select",
                              .since = 2};
  static constexpr std::tuple kFields{out("dst", &AffineSelect::dst),
                                      arg("pattern", &AffineSelect::pattern),
                                      arg("channel_multiplier", &AffineSelect::channel_multiplier),
                                      in("on_true_tile", &AffineSelect::on_true_tile),
                                      arg("on_false_value", &AffineSelect::on_false_value),
                                      opt("cmp_op", &AffineSelect::cmp_op),
                                      opt("offset", &AffineSelect::offset)};

  Engine engine_on(int) const { return Engine::kGpsimd; }

  void check(const Rules& rules) const {
    rules.operand("dst", dst, Buffers::kSbuf);
    rules.operand("on_true_tile", on_true_tile, Buffers::kSbuf);
    rules.same_partitions("dst", dst, "on_true_tile", on_true_tile);
    rules.same_free_size("dst", dst, "on_true_tile", on_true_tile);
    check_affine(rules, pattern, "dst", dst);
    if (!numerics::is_comparison(cmp_op)) {
      rules.fail("cmp_op", "cmp_op {} is not a comparison", numerics::name(cmp_op));
    }
    for (const auto& [name, tile] : {std::pair{"dst", &dst}, {"on_true_tile", &on_true_tile}}) {
      if (numerics::info(tile->dtype).packed > 1)
        rules.fail("packed", "{} is of a packed type", name);
    }
  }

  bool selects(std::int32_t affine) const {
    switch (cmp_op) {
      case AluOp::kEqual:
        return affine == 0;
      case AluOp::kNotEqual:
        return affine != 0;
      case AluOp::kGreater:
        return affine > 0;
      case AluOp::kGreaterEqual:
        return affine >= 0;
      case AluOp::kLess:
        return affine < 0;
      default:
        return affine <= 0;
    }
  }

  void execute(CoreState& state) const {
    if (dst.dtype == on_true_tile.dtype) {
      copy_bits(state, dst, on_true_tile);
    } else {
      for_each_block(
          state, dst, {&on_true_tile},
          [](const MutableRows& y, const Rows& x) {
            for (std::size_t r = 0; r < y.count; ++r)
              std::memcpy(y.row(r), x.row(r), y.size * sizeof(float));
          },
          on_true_tile);
    }
    write_false(state);
  }

  void write_false(CoreState& state) const {
    const std::vector<std::int32_t> row = affine_row(pattern, offset);
    const memory::Walk walk = memory::walk_of(dst);
    const std::size_t bytes = static_cast<std::size_t>(dst.element_bytes());
    std::uint32_t stored = 0;
    numerics::from_float(dst.dtype, &on_false_value, &stored, 0, 1);
    std::byte* base = state.memory.data(dst);
    for (std::int32_t p = 0; p < dst.partitions();
         ++p, base += state.memory.partition_pitch(dst.space)) {
      const std::int32_t first = wrapping_multiply(p, channel_multiplier);
      const std::int32_t* affine = row.data();
      memory::for_each_run(walk, 0, [&](std::int64_t at) {
        for (std::int64_t i = 0; i < walk.inner_size(); ++i, at += walk.inner_stride()) {
          if (!selects(wrapping_add(first, *affine++))) std::memcpy(base + at, &stored, bytes);
        }
      });
    }
  }

  Cost cost(const CostModel& model) const {
    return model.gpsimd(static_cast<double>(dst.free_elements()) *
                        model.core().gpsimd->cycles_per_element);
  }
};

}  // namespace

InstructionType insn_affine_select() { return describe<AffineSelect>(); }

}  // namespace trnsim::isa
