// What every subcommand gets: where the catalogue is and where to write. Tests pass their own
// streams.
#pragma once

#include <filesystem>
#include <iosfwd>

namespace trnsim::cli {

struct Context {
  std::filesystem::path hardware_dir;
  std::ostream& out;
  std::ostream& err;
};

}  // namespace trnsim::cli
