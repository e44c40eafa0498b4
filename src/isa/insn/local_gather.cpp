// Gather within each partition by indices shared among the 16 partitions of a GpSimd processor:
// dst[p, i, e] = src[p, idx[i] + e]. The processor's indices lie across its partitions, partition
// by partition first; they count elements of the flattened free dimensions.
#include <cstring>
#include <vector>

#include "isa/bits.h"
#include "isa/gather.h"
#include "isa/instruction.h"
#include "isa/slices.h"
#include "memory/stretch.h"

namespace trnsim::isa {
namespace {

constexpr int kGroup = 16;                  // partitions of a processor, which share their indices
constexpr std::int64_t kIndicesMax = 4096;  // per processor
constexpr std::int32_t kRunMax = 32;

struct LocalGather {
  Tile dst, src_buffer, index;
  std::int32_t num_elem_per_idx = 1;
  OptionalInt num_valid_indices;

  static constexpr Info kInfo{
      .name = "local_gather",
      .summary = "dst[p, i, e] = src_buffer[p, index of i + e], indices shared by 16 partitions",
      .engines = "GpSimd",
      .cost = "start + n e (28 + 4 e) / (4 e) / min(4 / element bytes, e) cycles; + drain",
      .source = "NKI documentation 2.26, nki.isa.local_gather",
      .since = 2};
  static constexpr std::tuple kFields{
      out("dst", &LocalGather::dst), in("src_buffer", &LocalGather::src_buffer),
      in("index", &LocalGather::index), opt("num_elem_per_idx", &LocalGather::num_elem_per_idx),
      opt("num_valid_indices", &LocalGather::num_valid_indices)};

  Engine engine_on(int) const { return Engine::kGpsimd; }

  std::int64_t given() const { return index.free_elements() * kGroup; }
  std::int64_t count() const {
    return num_valid_indices.present ? num_valid_indices.value : given();
  }

  void check(const Rules& rules) const {
    rules.operand("dst", dst, Buffers::kSbuf);
    rules.operand("src_buffer", src_buffer, Buffers::kSbuf);
    rules.operand("index", index, Buffers::kSbuf);
    rules.same_partitions("dst", dst, "src_buffer", src_buffer);
    rules.same_partitions("index", index, "src_buffer", src_buffer);
    rules.same_dtype("dst", dst, "src_buffer", src_buffer);
    if (dst.partitions() % kGroup != 0) {
      rules.fail("partition_multiple", "{} partitions; they must be a multiple of {}",
                 dst.partitions(), kGroup);
    }
    if (index.dtype != Dtype::kUint16) {
      rules.fail("index_dtype", "index is {}; it must be uint16", numerics::info(index.dtype).name);
    }
    const std::int32_t run = num_elem_per_idx;
    if (run < 1 || run > kRunMax || (run & (run - 1)) != 0) {
      rules.fail("num_elem_per_idx", "num_elem_per_idx is {}; it must be 1, 2, 4, 8, 16 or {}", run,
                 kRunMax);
    }
    check_count(rules);
  }

  void check_count(const Rules& rules) const {
    const std::int64_t n = count();
    if (n < 1 || n > given()) {
      rules.fail("num_valid_indices",
                 "num_valid_indices is {}; index has {} for each {} partitions", n, given(),
                 kGroup);
    }
    if (n > kIndicesMax)
      rules.fail("indices", "{} indices for each {} partitions exceed {}", n, kGroup, kIndicesMax);
    if (n * num_elem_per_idx != dst.free_elements()) {
      rules.fail("dst_size", "dst has {} elements per partition; {} indices of {} elements need {}",
                 dst.free_elements(), n, num_elem_per_idx, n * num_elem_per_idx);
    }
  }

  void execute(CoreState& state) const {
    const std::vector<std::int64_t> indices = read_integers(state, index);
    const std::int64_t columns = index.free_elements(), n = count(),
                       size = src_buffer.free_elements();
    const auto bytes = static_cast<std::size_t>(src_buffer.element_bytes());
    const std::size_t run_bytes = static_cast<std::size_t>(num_elem_per_idx) * bytes;
    std::vector<std::byte> from(static_cast<std::size_t>(size) * bytes),
        to(static_cast<std::size_t>(n) * run_bytes);
    for (int p = 0; p < dst.partitions(); ++p) {
      memory::gather(state.memory, row_of(src_buffer, p), from.data());
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t row = p / kGroup * kGroup + i % kGroup;
        const std::int64_t at = indices[static_cast<std::size_t>(row * columns + i / kGroup)];
        if (at + num_elem_per_idx > size)
          gather_out_of_range("local_gather", p, at, num_elem_per_idx, size);
        std::memcpy(to.data() + static_cast<std::size_t>(i) * run_bytes,
                    from.data() + static_cast<std::size_t>(at) * bytes, run_bytes);
      }
      memory::scatter(state.memory, row_of(dst, p), to.data());
    }
  }

  Cost cost(const CostModel& model) const {
    const auto n = static_cast<double>(count());
    return model.gpsimd(
        gather_cycles(model.core(), n, num_elem_per_idx, src_buffer.element_bytes()));
  }
};

}  // namespace

InstructionType insn_local_gather() { return describe<LocalGather>(); }

}  // namespace trnsim::isa
