#include "isa/activation_tables.h"

#include <string_view>

namespace trnsim::isa {
namespace {

// Whether `word` is one of the words of `text`.
bool names(std::string_view text, std::string_view word) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (text.substr(0, end) == word) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

}  // namespace

std::int8_t table_set_of(const catalog::ScalarEngine& scalar,
                         numerics::ActivationFunction function) {
  const std::string_view name = numerics::name(function);
  for (const std::string& everywhere : scalar.in_every_table_set) {
    if (names(everywhere, name)) return 0;
  }
  const std::size_t listed = scalar.table_sets.size();
  for (std::size_t i = 0; i < listed; ++i) {
    if (names(scalar.table_sets[i], name)) return static_cast<std::int8_t>(i + 1);
  }
  return static_cast<std::int8_t>(listed + 1 + static_cast<std::size_t>(function));
}

}  // namespace trnsim::isa
