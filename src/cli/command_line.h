// The command `trnsim`: parses the arguments, runs a subcommand, and is the only place where errors
// turn into exit codes. Running a script is the business of whoever has a Python interpreter, and
// comes in as a function.
#pragma once

#include <span>
#include <string>

#include "base/error.h"
#include "cli/context.h"
#include "cli/run.h"

namespace trnsim::cli {

enum ExitCode : int {
  kSuccess = 0,
  kUsage = 2,         // arguments, names, files
  kProgram = 3,       // the kernel broke a rule
  kNotSupported = 4,  // outside what trnsim does, or not there yet
  kBug = 70,          // a defect of trnsim
};

int exit_code(Fault fault);

// `args` without the program's own name. Results go to context.out, complaints to context.err, each
// beginning with "trnsim: "; no exception leaves.
int command_line(std::span<const std::string> args, const Context& context,
                 const RunScript& run_script);

}  // namespace trnsim::cli
