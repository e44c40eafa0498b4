// Move data between the partitions of a quadrant: in each quadrant dst[i] = src[shuffle_mask[i]],
// bits unchanged. A mask of 255 leaves dst[i] as it is. dst may be src. Partitions of a quadrant
// that dst does not have are left out.
#include <algorithm>
#include <vector>

#include "isa/instruction.h"
#include "isa/slices.h"
#include "memory/stretch.h"

namespace trnsim::isa {
namespace {

constexpr int kKeep = 255;

struct NcStreamShuffle {
  Tile dst, src;
  IntList shuffle_mask;

  static constexpr Info kInfo{
      .name = "nc_stream_shuffle",
      .summary = "dst[i] = src[shuffle_mask[i]] within each quadrant of 32 partitions",
      .engines = "Vector",
      .cost = "max(MIN_II, N) cycles; + drain",
      .source = "NKI documentation 2.26, nki.isa.nc_stream_shuffle"};
  static constexpr std::tuple kFields{out("dst", &NcStreamShuffle::dst),
                                      in_part("src", &NcStreamShuffle::src),
                                      arg("shuffle_mask", &NcStreamShuffle::shuffle_mask)};

  Engine engine_on(int) const { return Engine::kVector; }

  int lane(int partition) const { return shuffle_mask.values[partition % kQuadrantPartitions]; }
  int source_of(int partition) const {
    return partition / kQuadrantPartitions * kQuadrantPartitions + lane(partition);
  }

  void check(const Rules& rules) const {
    rules.operand("dst", dst, Buffers::kOnChip);
    rules.operand("src", src, Buffers::kOnChip);
    rules.same_dtype("dst", dst, "src", src);
    rules.same_free_size("dst", dst, "src", src);
    check_mask(rules);
    check_start(rules, "dst", dst);
    check_start(rules, "src", src);
    for (int p = 0; p < dst.partitions(); ++p) {
      if (lane(p) == kKeep) {
        rules.memory().require_written(row_of(dst, p), "dst (kept by mask 255)");
      } else if (source_of(p) >= src.partitions()) {
        rules.fail("source", "partition {} of dst takes partition {} of src, which has {}", p,
                   source_of(p), src.partitions());
      } else {
        rules.memory().require_written(row_of(src, source_of(p)), "src");
      }
    }
  }

  void check_mask(const Rules& rules) const {
    if (shuffle_mask.size != kQuadrantPartitions) {
      rules.fail("mask_size", "shuffle_mask has {} entries; it must have {}", shuffle_mask.size,
                 kQuadrantPartitions);
    }
    for (const int entry : shuffle_mask.values) {
      if ((entry < 0 || entry >= kQuadrantPartitions) && entry != kKeep) {
        rules.fail("mask_value", "shuffle_mask entry {} is neither 0 to {} nor {}", entry,
                   kQuadrantPartitions - 1, kKeep);
      }
    }
  }

  // Both sides count as having the active partitions: the larger side, rounded up to whole
  // quadrants.
  void check_start(const Rules& rules, const char* name, const Tile& tile) const {
    const int quadrants = (std::max(src.partitions(), dst.partitions()) + kQuadrantPartitions - 1) /
                          kQuadrantPartitions;
    const int step = kQuadrantPartitions * (quadrants > 2 ? 4 : quadrants);
    if (tile.start_partition % step != 0) {
      rules.fail("start",
                 "{} starts at partition {}; with {} active partitions it may start only at a "
                 "multiple of {}",
                 name, tile.start_partition, quadrants * kQuadrantPartitions, step);
    }
  }

  void execute(CoreState& state) const {
    std::vector<std::byte> rows(static_cast<std::size_t>(src.bytes()));
    memory::gather(state.memory, src, rows.data());
    const std::int64_t row_bytes = src.bytes() / src.partitions();
    for (int p = 0; p < dst.partitions(); ++p) {
      if (lane(p) != kKeep)
        memory::scatter(state.memory, row_of(dst, p), rows.data() + source_of(p) * row_bytes);
    }
  }

  Cost cost(const CostModel& model) const {
    const double slow = std::max(model.stride_slowdown(dst), model.stride_slowdown(src));
    return model.vector(static_cast<double>(dst.free_elements()) * slow);
  }
};

}  // namespace

InstructionType insn_nc_stream_shuffle() { return describe<NcStreamShuffle>(); }

}  // namespace trnsim::isa
