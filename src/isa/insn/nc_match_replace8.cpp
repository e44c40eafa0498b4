// Replace the first occurrence of each of eight values by a constant, and tell where they stood.
// The slots are worked off from the last to the first, as the hardware does: of equal values the
// last slot gets the first occurrence. What hardware does for a value that is not there is not
// public; here nothing is replaced for it and its index is all ones, as in nc_find_index8.
#include <algorithm>
#include <array>
#include <cstring>

#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/rows.h"
#include "isa/top8.h"

namespace trnsim::isa {
namespace {

using Positions = std::array<std::int64_t, kSlots>;

Positions find_positions(const float* data, std::size_t size, const float* vals) {
  Positions positions;
  positions.fill(-1);
  for (int slot = kSlots - 1; slot >= 0; --slot) {
    for (std::size_t i = 0; i < size; ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if (data[i] != vals[slot] ||
          std::find(positions.begin(), positions.end(), at) != positions.end())
        continue;
      positions[static_cast<std::size_t>(slot)] = at;
      break;
    }
  }
  return positions;
}

struct NcMatchReplace8 {
  Tile dst, data, vals;
  float imm = 0;
  Tile dst_idx;

  static constexpr Info kInfo{
      .name = "nc_match_replace8",
      .summary = "dst = data with the first occurrence of each of vals replaced by imm",
      .engines = "Vector",
      .cost = "max(MIN_II, N) cycles; + drain",
      .source = "NKI documentation 2.26, nki.isa.nc_match_replace8; release notes 0.6 (order)"};
  static constexpr std::tuple kFields{
      out("dst", &NcMatchReplace8::dst), in("data", &NcMatchReplace8::data),
      in("vals", &NcMatchReplace8::vals), arg("imm", &NcMatchReplace8::imm),
      opt_out("dst_idx", &NcMatchReplace8::dst_idx)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_searched(rules, "data", data);
    check_slots(rules, "vals", vals);
    rules.operand("dst", dst, Buffers::kOnChip);
    rules.same_partitions("data", data, "dst", dst);
    rules.same_free_size("data", data, "dst", dst);
    rules.same_partitions("data", data, "vals", vals);
    if (!dst_idx.present()) return;
    check_slots(rules, "dst_idx", dst_idx);
    check_index_dtype(rules, "dst_idx", dst_idx);
    rules.same_partitions("data", data, "dst_idx", dst_idx);
  }

  void execute(CoreState& state) const {
    std::vector<std::int64_t> indices;
    for_each_block(
        state, dst, {&data, &vals},
        [&](const MutableRows& y, const Rows& x, const Rows& v) {
          for (std::size_t r = 0; r < y.count; ++r) {
            const Positions positions = find_positions(x.row(r), x.size, v.row(r));
            std::memmove(y.row(r), x.row(r), x.size * sizeof(float));
            for (const std::int64_t at : positions) {
              if (at >= 0) y.row(r)[at] = imm;
            }
            indices.insert(indices.end(), positions.begin(), positions.end());
          }
        },
        data, vals);
    if (dst_idx.present()) write_integers(state, dst_idx, indices);
  }

  Cost cost(const CostModel& model) const {
    const double slow = std::max(model.stride_slowdown(data), model.stride_slowdown(dst));
    return model.vector(static_cast<double>(data.free_elements()) * slow);
  }
};

}  // namespace

InstructionType insn_nc_match_replace8() { return describe<NcMatchReplace8>(); }

}  // namespace trnsim::isa
