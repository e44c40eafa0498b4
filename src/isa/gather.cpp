#include "isa/gather.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace trnsim::isa {
double gather_cycles(const catalog::Core& core, double count, double run, int element_bytes) {
  const catalog::GpsimdEngine& gpsimd = *core.gpsimd;
  const double useful = gpsimd.gather_element_cycles * run;
  const double overhead = (gpsimd.gather_fixed_cycles + useful) / useful;
  // A processor reads its width in bits each cycle, an equal share from each of its partitions.
  const double bytes_per_cycle = gpsimd.processor_width / gpsimd.partitions_per_processor / 8;
  return count * run * overhead / std::min(bytes_per_cycle / element_bytes, run);
}

void gather_out_of_range(std::string_view instruction, int partition, std::int64_t index,
                         std::int64_t run, std::int64_t size) {
  program_error(
      std::string(instruction) + ".index",
      "{}: index {} in partition {} reads elements {} to {}, but a partition of the source has {}",
      instruction, index, partition, index, index + run - 1, size);
}

}  // namespace trnsim::isa
