#include "cli/run.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>

#include "base/error.h"
#include "catalog/catalog.h"
#include "report/output_file.h"

namespace trnsim::cli {
namespace {

namespace fs = std::filesystem;

}  // namespace

void take_script(const CLI::App& command, RunOptions& options) {
  std::vector<std::string> rest = command.remaining();
  const std::string name = command.get_name();
  if (!rest.empty() && rest.front() == "--") rest.erase(rest.begin());
  if (rest.empty()) config_error("trnsim {} needs a script; see trnsim {} --help", name, name);
  if (rest.front().size() > 1 && rest.front().front() == '-') {
    config_error("trnsim {} has no option {}; see trnsim {} --help", name, rest.front(), name);
  }
  options.script = rest.front();
  options.arguments.assign(rest.begin() + 1, rest.end());
}

void require_runnable(const RunOptions& options, const Context& context) {
  if (!fs::exists(options.script)) config_error("{}: no such script", options.script.string());
  if (fs::is_directory(options.script))
    config_error("{}: a folder, not a script", options.script.string());
  if (!options.chip.empty()) catalog::find_chip(options.chip, catalog::load(context.hardware_dir));
  if (!options.trace.empty()) report::require_writable(options.trace);
  if (!options.report.empty()) report::require_writable(options.report);
  if (!options.dump_program.empty() && options.dump_program != "-")
    report::require_writable(options.dump_program);
  if (!options.save.empty()) report::require_writable(options.save);
  if (!options.json.empty() && options.json != "-") report::require_writable(options.json);
}

void add_schedule_option(CLI::App& command, std::string& schedule) {
  command
      .add_option("--schedule", schedule,
                  "The order in which engines take instructions: program (as written) or list (a "
                  "list scheduler's); without it, list for neuronxcc.nki and program for nki")
      ->check(CLI::IsMember({"program", "list"}));
}

void add_run_command(CLI::App& app, const Context& context, RunScript run_script) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* run =
      app.add_subcommand("run", "Run a Python script with NKI kernels on a simulated NeuronCore");
  run->footer(
      "\nThe script follows the options; what follows the script is its own: trnsim run --quiet "
      "script.py --size 8");
  run->add_option("--chip", options->chip,
                  "The chip: a name (trn1, trn2, trn3, inf2, ...) or your own .toml file; without "
                  "it, NEURON_PLATFORM_TARGET_OVERRIDE, else trn2");
  run->add_option("--nki", options->nki,
                  "The NKI version to offer; auto goes by what the script imports")
      ->capture_default_str();
  run->add_option("--ranks", options->ranks,
                  "Run the script once for each of so many ranks, joined by --on")
      ->check(CLI::PositiveNumber);
  run->add_option(
      "--on", options->on,
      "The instance, UltraServer or .toml topology of the ranks (trn2.48xlarge:2 is two)");
  run->add_flag("--timing-only", options->timing_only,
                "Leave the arithmetic out: times only, no values");
  add_schedule_option(*run, options->schedule);
  run->add_option("--trace", options->trace, "Write a Perfetto trace (open it at ui.perfetto.dev)")
      ->type_name("FILE");
  run->add_option("--report", options->report,
                  "Write the report as a page: one HTML file that any browser shows, also offline")
      ->type_name("FILE");
  run->add_option("--save", options->save, "Write the recorded programs, for trnsim replay")
      ->type_name("FILE");
  run->add_flag("--json{-}", options->json,
                "Print the report as JSON, or write it to a file: --json=FILE");
  run->add_flag("--stochastic-rounding", options->stochastic_rounding,
                "Round results narrower than fp32 at random instead of to nearest");
  run->add_flag("--exact-integers", options->exact_integers,
                "Refuse 32-bit integers that may lose bits on their way through fp32");
  run->add_flag("--spill", options->spill,
                "Let tiles that do not fit into SBUF give way, as the compiler does");
  run->add_option("--seed", options->seed, "Seed of stochastic rounding and random numbers");
  run->add_flag("--dump-program{-}", options->dump_program,
                "Print every instruction, or write them to a file (.json: as JSON)");
  run->add_flag("--fp32", options->fp32, "Keep every float type as fp32 (NKI_PRECISE_FP=0)");
  run->add_flag("--stop-on-nan", options->stop_on_nan,
                "Stop at the first instruction that makes a NaN or an infinity");
  run->add_option("--break-at", options->break_at,
                  "Open pdb just before instruction N of the first launch, or KERNEL:N")
      ->type_name("N");
  run->add_flag("!--no-lint", options->lint,
                "Do not say what the NKI compiler would refuse (see trnsim lint)");
  run->add_flag("--quiet", options->quiet, "Print no summary");
  run->prefix_command();
  run->callback([=] {
    take_script(*run, *options);
    require_runnable(*options, context);
    run_script(*options);
  });
}

std::vector<std::string> with_joined_values(std::span<const std::string> args) {
  constexpr std::array<std::string_view, 10> kTakeValue{
      "--chip",   "--nki",  "--ranks", "--on",       "--trace",
      "--report", "--save", "--seed",  "--break-at", "--schedule"};
  std::vector<std::string> joined(args.begin(), args.end());
  if (joined.empty() || (joined.front() != "run" && joined.front() != "replay")) return joined;
  // Of a script's own words none is ours: it is the first that is neither an option nor its value.
  const bool script = joined.front() == "run";
  for (std::size_t i = 1; i + 1 < joined.size() && (!script || joined[i].starts_with('-')); ++i) {
    if (std::find(kTakeValue.begin(), kTakeValue.end(), joined[i]) != kTakeValue.end()) {
      ++i;
    } else if ((joined[i] == "--json" && joined[i + 1].ends_with(".json")) ||
               (joined[i] == "--dump-program" &&
                (joined[i + 1].ends_with(".json") || joined[i + 1].ends_with(".txt")))) {
      joined[i] += "=" + joined[i + 1];
      joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }
  return joined;
}

}  // namespace trnsim::cli
