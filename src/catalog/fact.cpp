#include "catalog/fact.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace trnsim::catalog {

const Fact* Record::fact(std::string_view path) const {
  for (const Fact& fact : facts)
    if (fact.path == path) return &fact;
  return nullptr;
}

std::string value_text(const Value& value) {
  // Whole numbers in full, since 1e+06 chips is no way to say a million; the rest to eight digits.
  if (const auto* number = std::get_if<double>(&value))
    return *number == std::floor(*number) && *number < 1e15 ? fmt::format("{:.0f}", *number)
                                                            : fmt::format("{:.8g}", *number);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return fmt::format("{}", fmt::join(std::get<std::vector<std::string>>(value), " | "));
}

}  // namespace trnsim::catalog
