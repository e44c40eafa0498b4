#include "report/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/error.h"

namespace trnsim::report {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& path, int reason) {
  config_error("cannot write {}: {}; give a path in a folder that exists and that you may write to",
               path.string(), std::strerror(reason));
}

// Writes and closes; the reason of a failure, or 0.
int write_all(const fs::path& path, std::string_view content) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return errno;
  int reason = std::fwrite(content.data(), 1, content.size(), file) == content.size() ? 0 : errno;
  if (std::fclose(file) != 0 && reason == 0) reason = errno;
  return reason;
}

// A pipe or a device cannot be replaced by a rename.
bool is_special(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_regular_file(path, ignored) &&
         !fs::is_directory(path, ignored);
}

}  // namespace

void write_file(const fs::path& path, std::string_view content) {
  if (is_special(path)) {
    if (const int reason = write_all(path, content)) cannot_write(path, reason);
    return;
  }
  const fs::path part = path.string() + ".part" + std::to_string(::getpid());
  int reason = write_all(part, content);
  if (reason == 0 && std::rename(part.c_str(), path.c_str()) != 0) reason = errno;
  if (reason == 0) return;
  std::remove(part.c_str());
  cannot_write(path, reason);
}

void require_writable(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) cannot_write(path, EISDIR);
  if (is_special(path)) {
    if (::access(path.c_str(), W_OK) != 0) cannot_write(path, errno);
    return;
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored))
    cannot_write(path, fs::exists(folder, ignored) ? ENOTDIR : ENOENT);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) cannot_write(path, errno);
}

}  // namespace trnsim::report
