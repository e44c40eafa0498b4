// "Did you mean ...?": the known name closest to a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trnsim {

// The nearest of `known` by edit distance; empty when nothing is close enough to be a likely typing
// error.
std::string nearest_name(std::string_view name, std::span<const std::string> known);

}  // namespace trnsim
