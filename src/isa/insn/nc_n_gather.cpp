// Gather within each partition by that partition's own indices: dst[p, j] = data[p, indices[p, j]],
// free dimensions flattened. The cost is not public; taken is that of local_gather for single
// elements, in groups that each start anew.
#include <cmath>
#include <cstring>
#include <vector>

#include "isa/bits.h"
#include "isa/gather.h"
#include "isa/instruction.h"
#include "isa/slices.h"
#include "memory/stretch.h"

namespace trnsim::isa {
namespace {

struct NcNGather {
  Tile dst, data, indices;

  static constexpr Info kInfo{
      .name = "nc_n_gather",
      .summary = "dst[p, j] = data[p, indices[p, j]]",
      .engines = "GpSimd",
      .cost = "as local_gather of single elements, one start for each 512; + drain",
      .source = "NKI documentation, nki.isa.nc_n_gather",
      .since = 2};
  static constexpr std::tuple kFields{out("dst", &NcNGather::dst), in("data", &NcNGather::data),
                                      in("indices", &NcNGather::indices)};

  Engine engine_on(int) const { return Engine::kGpsimd; }

  void check(const Rules& rules) const {
    rules.operand("dst", dst, Buffers::kSbuf);
    rules.operand("data", data, Buffers::kSbuf);
    rules.operand("indices", indices, Buffers::kSbuf);
    rules.same_partitions("dst", dst, "data", data);
    rules.same_partitions("indices", indices, "data", data);
    rules.same_free_size("dst", dst, "indices", indices);
    rules.same_dtype("dst", dst, "data", data);
    if (indices.dtype != Dtype::kUint32) {
      rules.fail("index_dtype", "indices is {}; it must be uint32",
                 numerics::info(indices.dtype).name);
    }
  }

  void execute(CoreState& state) const {
    const std::vector<std::int64_t> list = read_integers(state, indices);
    const std::int64_t size = data.free_elements();
    const auto bytes = static_cast<std::size_t>(data.element_bytes()),
               n = static_cast<std::size_t>(dst.free_elements());
    std::vector<std::byte> from(static_cast<std::size_t>(size) * bytes), to(n * bytes);
    for (int p = 0; p < dst.partitions(); ++p) {
      memory::gather(state.memory, row_of(data, p), from.data());
      for (std::size_t j = 0; j < n; ++j) {
        const std::int64_t at = list[static_cast<std::size_t>(p) * n + j];
        if (at >= size) gather_out_of_range("nc_n_gather", p, at, 1, size);
        std::memcpy(to.data() + j * bytes, from.data() + static_cast<std::size_t>(at) * bytes,
                    bytes);
      }
      memory::scatter(state.memory, row_of(dst, p), to.data());
    }
  }

  Cost cost(const CostModel& model) const {
    const auto n = static_cast<double>(dst.free_elements());
    const catalog::GpsimdEngine& gpsimd = *model.core().gpsimd;
    const double more_starts = (std::ceil(n / gpsimd.gather_group) - 1) * gpsimd.start_cycles;
    return model.gpsimd(gather_cycles(model.core(), n, 1, data.element_bytes()) + more_starts);
  }
};

}  // namespace

InstructionType insn_nc_n_gather() { return describe<NcNGather>(); }

}  // namespace trnsim::isa
