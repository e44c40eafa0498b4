#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <ostream>
#include <vector>

#include "base/error.h"
#include "cli/chips.h"
#include "cli/collective.h"
#include "cli/isa.h"
#include "cli/replay.h"
#include "cli/report.h"
#include "cli/train.h"
#include "cli/what_if.h"

namespace trnsim::cli {
namespace {

constexpr const char* kFooter =
    "\nA first run:   trnsim run --trace out.pftrace script.py\n"
    "Would it pass: trnsim lint script.py (the compiler), trnsim port --to 0.6 script.py (a release)\n"
    "Many plans:    trnsim sweep plan.toml\n"
    "Every figure:  trnsim chips show trainium2\n"
    "More on each:  trnsim COMMAND --help";

int parse_and_run(CLI::App& app, std::span<const std::string> args, const Context& context) {
  try {
    std::vector<std::string> list = with_joined_values(args);
    std::reverse(list.begin(), list.end());  // CLI11 takes them from the back
    app.parse(std::move(list));
    return kSuccess;
  } catch (const CLI::Success& help_or_version) {
    app.exit(help_or_version, context.out, context.err);
    return kSuccess;
  } catch (const CLI::ParseError& error) {
    context.err << "trnsim: " << error.what() << "; see trnsim --help\n";
    return kUsage;
  }
}

}  // namespace

int exit_code(Fault fault) {
  switch (fault) {
    case Fault::kConfig:
      return kUsage;
    case Fault::kProgram:
      return kProgram;
    case Fault::kUnsupported:
    case Fault::kUnimplemented:
    case Fault::kMissingSpec:
      return kNotSupported;
    case Fault::kInternal:
      break;
  }
  return kBug;
}

int command_line(std::span<const std::string> args, const Context& context,
                 const RunScript& run_script) {
  try {
    CLI::App app(
        "Runs what AWS Trainium and Inferentia run, without the chips: the bits, the time, and "
        "why.",
        "trnsim");
    app.set_version_flag("--version", "trnsim " TRNSIM_VERSION, "Print the version and leave");
    app.set_help_flag("-h,--help", "Print this help and leave");
    app.require_subcommand(1);
    app.footer(kFooter);
    int script_result = kSuccess;
    const RunScript run = [&](const RunOptions& options) {
      script_result = run_script(options);
      return script_result;
    };
    add_run_command(app, context, run);
    add_replay_command(app, context);
    add_report_command(app, context);
    add_diff_command(app, context);
    add_what_if_command(app, context, run);
    add_collective_command(app, context);
    add_train_command(app, context);
    add_chips_command(app, context);
    add_isa_command(app, context);
    const int result = parse_and_run(app, args, context);
    return result == kSuccess ? script_result : result;
  } catch (const Error& error) {
    context.err << "trnsim: " << error.what() << '\n';
    return exit_code(error.fault());
  } catch (const std::exception& error) {
    context.err << "trnsim: " << error.what()
                << ". This is a defect of trnsim; please report it.\n";
    return kBug;
  }
}

}  // namespace trnsim::cli
