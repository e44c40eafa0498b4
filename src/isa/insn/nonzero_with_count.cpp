// The places of the elements that are not zero, then padding, then how many there are. Each GpSimd
// processor works on the first of its 16 partitions only; dst keeps what it holds in the others,
// but counts as written there too, so that it can be stored as a whole as in the documentation.
#include <bit>
#include <vector>

#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/slices.h"

namespace trnsim::isa {
namespace {

struct NonzeroWithCount {
  Tile dst, src;
  std::int32_t index_offset = 0;
  std::int32_t padding_val = -1;

  static constexpr Info kInfo{
      .name = "nonzero_with_count",
      .summary =
          "dst = places of src's nonzero elements, padding and their count, in every 16th "
          "partition",
      .engines = "GpSimd",
      .cost = "start + c N cycles (no public figure); + drain",
      .source = "NKI documentation, nki.isa.nonzero_with_count",
      .since = 3};
  static constexpr std::tuple kFields{out("dst", &NonzeroWithCount::dst),
                                      in_part("src", &NonzeroWithCount::src),
                                      opt("index_offset", &NonzeroWithCount::index_offset),
                                      opt("padding_val", &NonzeroWithCount::padding_val)};

  Engine engine_on(int) const { return Engine::kGpsimd; }

  void check(const Rules& rules) const {
    rules.operand("dst", dst, Buffers::kSbuf);
    rules.operand("src", src, Buffers::kSbuf);
    rules.same_partitions("dst", dst, "src", src);
    if (src.dtype != Dtype::kFloat32 && src.dtype != Dtype::kInt32) {
      rules.fail("dtype", "src is {}; it must be float32 or int32", numerics::info(src.dtype).name);
    }
    if (dst.dtype != Dtype::kInt32) {
      rules.fail("dst_dtype", "dst is {}; it must be int32", numerics::info(dst.dtype).name);
    }
    if (dst.free_elements() != src.free_elements() + 1) {
      rules.fail("dst_size", "dst has {} elements per partition; beside {} of src it must have {}",
                 dst.free_elements(), src.free_elements(), src.free_elements() + 1);
    }
    for (int p = 0; p < src.partitions(); p += kProcessorPartitions)
      rules.memory().require_written(row_of(src, p), "src");
  }

  void execute(CoreState& state) const {
    for (int p = 0; p < src.partitions(); p += kProcessorPartitions) {
      const std::vector<std::int64_t> row = read_integers(state, row_of(src, p));
      std::vector<std::int64_t> found;
      found.reserve(row.size() + 1);
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (!is_zero(row[i])) found.push_back(static_cast<std::int64_t>(i) + index_offset);
      }
      const auto count = static_cast<std::int64_t>(found.size());
      found.resize(row.size(), padding_val);
      found.push_back(count);
      write_integers(state, row_of(dst, p), found);
    }
  }

  // Floats come as their bits: -0 is zero, NaN is not.
  bool is_zero(std::int64_t value) const {
    if (src.dtype == Dtype::kInt32) return value == 0;
    return std::bit_cast<float>(static_cast<std::uint32_t>(value)) == 0.0f;
  }

  Cost cost(const CostModel& model) const {
    return model.gpsimd(static_cast<double>(src.free_elements()) *
                        model.core().gpsimd->nonzero_cycles);
  }
};

}  // namespace

InstructionType insn_nonzero_with_count() { return describe<NonzeroWithCount>(); }

}  // namespace trnsim::isa
