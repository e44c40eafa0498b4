// Text laid out for a page of 100 columns.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string_view>

namespace trnsim::cli {

inline constexpr std::size_t kWidth = 100;

// Broken at spaces into lines that fit the page, each with the given indentation.
void print_wrapped(std::ostream& out, std::string_view text, std::size_t indent);

}  // namespace trnsim::cli
