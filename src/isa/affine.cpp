#include "isa/affine.h"

namespace trnsim::isa {

void check_affine(const Rules& rules, const AffinePattern& pattern, const char* name,
                  const Tile& tile) {
  if (pattern.dims == 0)
    rules.fail("pattern", "pattern is empty; it needs one to four [step, count] pairs");
  for (int i = 0; i < pattern.dims; ++i) {
    if (pattern.counts[i] < 1)
      rules.fail("pattern", "pattern count {} is less than 1", pattern.counts[i]);
  }
  if (pattern.elements() != tile.free_elements()) {
    rules.fail("pattern", "pattern describes {} elements but {} has {} per partition",
               pattern.elements(), name, tile.free_elements());
  }
}

std::vector<std::int32_t> affine_row(const AffinePattern& pattern, std::int32_t offset) {
  std::vector<std::int32_t> values{offset};
  // Outermost first: each dimension replaces a value by its count of values, a step apart.
  for (int d = 0; d < pattern.dims; ++d) {
    std::vector<std::int32_t> finer;
    finer.reserve(values.size() * static_cast<std::size_t>(pattern.counts[d]));
    for (const std::int32_t value : values) {
      for (std::int32_t i = 0; i < pattern.counts[d]; ++i) {
        finer.push_back(wrapping_add(value, wrapping_multiply(i, pattern.steps[d])));
      }
    }
    values = std::move(finer);
  }
  return values;
}

}  // namespace trnsim::isa
