#include "report/time_text.h"

#include <fmt/core.h>

namespace trnsim::report {

std::string time_text(Picoseconds time) {
  if (time.count >= 10'000'000'000) return fmt::format("{:.2f} ms", time.us() * 1e-3);
  if (time.count >= 1'000'000) return fmt::format("{:.2f} us", time.us());
  return fmt::format("{:.1f} ns", time.ns());
}

}  // namespace trnsim::report
