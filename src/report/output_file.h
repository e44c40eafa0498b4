// Files that a report leaves behind. A file is written beside its place and then renamed, so that
// an earlier report stays whole until the new one is complete.
#pragma once

#include <filesystem>
#include <string_view>

namespace trnsim::report {

// Throws ConfigError with the path and the system's reason.
void write_file(const std::filesystem::path& path, std::string_view content);

// Throws the same error now that write_file would throw later: asked before a long run, nothing is
// lost.
void require_writable(const std::filesystem::path& path);

}  // namespace trnsim::report
