// The files of web/, embedded when the project is built (cmake/embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace trnsim::report {

struct WebFile {
  std::string_view name, text;
};

// In the order of their names.
std::span<const WebFile> web_files();

}  // namespace trnsim::report
