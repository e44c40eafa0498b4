#include "cli/wrapped.h"

#include <algorithm>
#include <ostream>
#include <string>

namespace trnsim::cli {

void print_wrapped(std::ostream& out, std::string_view text, std::size_t indent) {
  const std::size_t room = kWidth - indent;
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > room) {
      end = text.rfind(' ', room);
      if (end == std::string_view::npos)
        end = std::min(text.find(' '), text.size());  // a long address
    }
    out << std::string(indent, ' ') << text.substr(0, end) << '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace trnsim::cli
