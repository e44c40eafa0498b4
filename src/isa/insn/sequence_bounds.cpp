// For each element of a row of segment ids, the run of equal neighbours that it is in: dst[0, 0, i]
// is the first index of the run, dst[0, 1, i] one past its last. Id 0 is padding and gives (n, -1).
#include <bit>
#include <vector>

#include "isa/bits.h"
#include "isa/instruction.h"

namespace trnsim::isa {
namespace {

struct SequenceBounds {
  Tile dst, segment_ids;

  static constexpr Info kInfo{
      .name = "sequence_bounds",
      .summary = "dst[0, 0, i], dst[0, 1, i] = start and end of the run of equal ids around i",
      .engines = "GpSimd",
      .cost = "start + 2 N cycles (no public figure; one per result); + drain",
      .source = "NKI documentation, nki.isa.sequence_bounds",
      .since = 2};
  static constexpr std::tuple kFields{out("dst", &SequenceBounds::dst),
                                      in("segment_ids", &SequenceBounds::segment_ids)};

  Engine engine_on(int) const { return Engine::kGpsimd; }

  bool is_float() const { return segment_ids.dtype == Dtype::kFloat32; }

  void check(const Rules& rules) const {
    rules.operand("dst", dst, Buffers::kSbuf);
    rules.operand("segment_ids", segment_ids, Buffers::kSbuf);
    if (!is_float() && segment_ids.dtype != Dtype::kInt32) {
      rules.fail("dtype", "segment_ids is {}; it must be float32 or int32",
                 numerics::info(segment_ids.dtype).name);
    }
    rules.same_dtype("dst", dst, "segment_ids", segment_ids);
    if (segment_ids.partitions() != 1) {
      rules.fail("partitions", "segment_ids has {} partitions; it must have 1",
                 segment_ids.partitions());
    }
    const std::int64_t n = segment_ids.free_elements();
    if (dst.partitions() != 1 || dst.free_elements() != 2 * n ||
        (dst.dims >= 3 && dst.sizes[1] != 2)) {
      rules.fail("dst_shape", "dst has {} partitions of {} elements; it must be [1, 2, {}]",
                 dst.partitions(), dst.free_elements(), n);
    }
  }

  void execute(CoreState& state) const {
    const std::vector<std::int64_t> ids =
        read_integers(state, segment_ids);  // of floats: their bits
    const auto n = static_cast<std::int64_t>(ids.size());
    const auto stored = [&](std::int64_t value) {
      return is_float() ? std::int64_t{std::bit_cast<std::uint32_t>(static_cast<float>(value))}
                        : value;
    };
    std::vector<std::int64_t> bounds(ids.size() * 2);
    for (std::int64_t first = 0, end = 0; first < n; first = end) {
      const std::int64_t id = ids[static_cast<std::size_t>(first)];
      while (end < n && ids[static_cast<std::size_t>(end)] == id) ++end;
      for (std::int64_t i = first; i < end; ++i) {
        bounds[static_cast<std::size_t>(i)] = stored(id == 0 ? n : first);
        bounds[static_cast<std::size_t>(n + i)] = stored(id == 0 ? -1 : end);
      }
    }
    write_integers(state, dst, bounds);
  }

  Cost cost(const CostModel& model) const {
    return model.gpsimd(static_cast<double>(dst.free_elements()) *
                        model.core().gpsimd->cycles_per_element);
  }
};

}  // namespace

InstructionType insn_sequence_bounds() { return describe<SequenceBounds>(); }

}  // namespace trnsim::isa
