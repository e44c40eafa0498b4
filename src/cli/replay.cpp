#include "cli/replay.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "cli/recorded.h"
#include "cli/run.h"
#include "report/output_file.h"
#include "report/perfetto.h"
#include "report/report.h"

namespace trnsim::cli {
namespace {

struct ReplayOptions {
  std::filesystem::path program;
  std::string chip, schedule;
  std::filesystem::path trace, json;
  bool quiet = false;
};

void replay(const ReplayOptions& options, const Context& context) {
  if (!options.trace.empty()) report::require_writable(options.trace);
  const bool print_json = options.json == "-";
  if (!options.json.empty() && !print_json) report::require_writable(options.json);
  const Recorded recorded(options.program, options.chip, context, options.schedule);
  const std::vector<report::Run> runs = recorded.runs();
  if (!options.trace.empty()) report::write_perfetto(runs, options.trace);
  if (print_json) {
    context.out << report::json(runs) << '\n';
  } else if (!options.json.empty()) {
    report::write_file(options.json, report::json(runs));
  }
  if (options.quiet || print_json) return;
  context.out << report::text(runs) << '\n';
  if (!options.trace.empty()) {
    context.out << "Trace written to " << options.trace.string()
                << "; open it at https://ui.perfetto.dev\n";
  }
}

}  // namespace

void add_replay_command(CLI::App& app, const Context& context) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand(
      "replay", "Clock a program that `trnsim run --save` wrote, also on another chip");
  command->add_option("program", options->program, "The saved program")->required();
  command->add_option("--chip", options->chip,
                      "The chip: a name or your own .toml file; without it, as recorded");
  add_schedule_option(*command, options->schedule);
  command
      ->add_option("--trace", options->trace, "Write a Perfetto trace (open it at ui.perfetto.dev)")
      ->type_name("FILE");
  command->add_flag("--json{-}", options->json,
                    "Print the report as JSON, or write it to a file: --json=FILE");
  command->add_flag("--quiet", options->quiet, "Print no summary");
  command->callback([=] { replay(*options, context); });
}

}  // namespace trnsim::cli
