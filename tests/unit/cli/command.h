// Runs the command line as a user would, with the streams caught and the script left to the test.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace trnsim::cli {

struct Outcome {
  int code;
  std::string out, err;
};

inline Outcome command(
    const std::vector<std::string>& args,
    const RunScript& script = [](const RunOptions&) { return 0; }) {
  std::ostringstream out, err;
  const int code = command_line(args, Context{"hardware", out, err}, script);
  return {code, out.str(), err.str()};
}

}  // namespace trnsim::cli
