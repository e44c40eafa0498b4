// trnsim run: everything about the command but the running, which needs a Python interpreter.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/context.h"

namespace CLI {
class App;
}

namespace trnsim::cli {

struct RunOptions {
  std::filesystem::path script;
  std::vector<std::string> arguments;  // of the script, untouched
  std::string chip;  // a name of the catalogue or the path of a user's file; empty: not given
  std::string nki = "auto";
  int ranks = 0;   // the script runs once for each; 0: not given
  std::string on;  // what joins them; empty: not given
  bool timing_only = false;
  bool lint = true;      // say first what the compiler would refuse
  std::string schedule;  // "program" or "list"; empty: as usual for the dialect
  bool quiet = false;    // no summary
  bool what_if = false;  // print what would be gained without each obstacle, nothing else
  std::vector<std::string> obstacles;  // ... of these; empty: of all
  std::optional<std::uint64_t> seed;
  bool stochastic_rounding = false;
  bool fp32 = false;  // every float type kept as fp32
  bool stop_on_nan = false;
  bool exact_integers = false;
  bool spill = false;    // tiles that do not fit into SBUF give way instead of being refused
  std::string break_at;  // "120" or "kernel:120"; empty: nowhere
  std::filesystem::path dump_program;  // empty: none; "-": standard output
  std::filesystem::path trace;         // empty: none
  std::filesystem::path report;        // the page; empty: none
  std::filesystem::path save;          // the programs, for trnsim replay; empty: nowhere
  std::filesystem::path json;          // empty: none; "-": standard output
};

// Runs the script; returns the exit code.
using RunScript = std::function<int(const RunOptions&)>;

// The first word that is no option of the command is the script; the rest is the script's own.
void take_script(const CLI::App& command, RunOptions& options);

// What can be known to fail is better said before a long run than after it: throws ConfigError.
void require_runnable(const RunOptions& options, const Context& context);

// --schedule of run and replay.
void add_schedule_option(CLI::App& command, std::string& schedule);

void add_run_command(CLI::App& app, const Context& context, RunScript run_script);

// "--json report.json" and "--dump-program program.txt" may also be written in two words. What
// follows is their value only when it ends in ".json" or ".txt"; otherwise it is the script.
std::vector<std::string> with_joined_values(std::span<const std::string> args);

}  // namespace trnsim::cli
