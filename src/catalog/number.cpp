#include "catalog/number.h"

#include <array>
#include <utility>

namespace trnsim::catalog {
namespace {

constexpr std::array<std::pair<Confidence, std::string_view>, 4> kNames = {{
    {Confidence::kDocumented, "documented"},
    {Confidence::kMeasured, "measured"},
    {Confidence::kInferred, "inferred"},
    {Confidence::kGuess, "guess"},
}};

}  // namespace

std::string_view confidence_name(Confidence confidence) {
  for (const auto& [value, name] : kNames)
    if (value == confidence) return name;
  return "?";
}

std::optional<Confidence> parse_confidence(std::string_view text) {
  for (const auto& [value, name] : kNames)
    if (name == text) return value;
  return std::nullopt;
}

}  // namespace trnsim::catalog
