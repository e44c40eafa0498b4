// A user's own schedule, from TOML:
//
//   name = "pairwise"
//   chunks = 4
//   [[round]]
//   sends = [ { from = 0, to = 1, chunk = 0 }, { from = 1, to = 0, chunk = 1, count = 3, reduce =
//   true } ]
#pragma once

#include <filesystem>

#include "fabric/algorithm.h"

namespace trnsim::fabric {

// Throws ConfigError with file and line.
Schedule load_schedule(const std::filesystem::path& file, int members);

}  // namespace trnsim::fabric
