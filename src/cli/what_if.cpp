#include "cli/what_if.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <ostream>

#include "base/error.h"
#include "catalog/catalog.h"
#include "cli/recorded.h"
#include "core/replay.h"
#include "report/what_if.h"

namespace trnsim::cli {
namespace {

report::Elsewhere on(const catalog::Chip& chip, std::span<const report::Run> launch) {
  std::vector<program::Program> cores;
  for (const report::Run& run : launch) cores.push_back(*run.program);
  report::Elsewhere elsewhere{chip.name, std::nullopt, {}};
  try {
    cores = core::replay(std::move(cores), launch.front().kernel, chip);
  } catch (const Error& error) {
    if (error.fault() == Fault::kInternal) throw;
    elsewhere.refusal = error.what();
    return elsewhere;
  }
  std::vector<const program::Program*> programs;
  for (const program::Program& core : cores) programs.push_back(&core);
  Picoseconds longest;
  for (const timing::Timeline& timeline :
       timing::clock(programs, chip, {.scheduling = launch.front().timeline->scheduling}))
    longest = std::max(longest, timeline.total);
  elsewhere.latency = longest;
  return elsewhere;
}

struct Asked {
  std::vector<const report::Obstacle*> obstacles;
  std::vector<catalog::Chip> chips;
};

Asked parse(std::span<const std::string> names, const std::filesystem::path& hardware_dir) {
  const catalog::Catalog catalog = catalog::load(hardware_dir);
  Asked asked;
  for (const std::string& name : names) {
    if (const report::Obstacle* obstacle = report::find_obstacle(name)) {
      asked.obstacles.push_back(obstacle);
      continue;
    }
    try {
      asked.chips.push_back(catalog::find_chip(name, catalog));
    } catch (const Error& error) {
      config_error("{} is no obstacle (trnsim whatif --help lists them) and no chip: {}", name,
                   error.what());
    }
  }
  if (names.empty()) {
    for (const report::Obstacle& obstacle : report::obstacles())
      asked.obstacles.push_back(&obstacle);
    for (const catalog::Chip& chip : catalog.chips) asked.chips.push_back(chip);
  }
  return asked;
}

std::string footer() {
  std::string text = "\nObstacles (a chip's name asks for the same program there):\n";
  for (const report::Obstacle& obstacle : report::obstacles())
    text += fmt::format("  {:<26}{}\n", obstacle.name, obstacle.without);
  return text;
}

}  // namespace

std::string what_if(std::span<const report::Run> runs, std::span<const std::string> asked,
                    const std::filesystem::path& hardware_dir, WhatIfFormat format) {
  const Asked what = parse(asked, hardware_dir);
  std::vector<report::WhatIf> launches;
  for (const auto launch : report::launches(runs)) {
    report::WhatIf& answer =
        launches.emplace_back(report::WhatIf{launch.front().kernel,
                                             launch.front().chip->name,
                                             report::latency(launch),
                                             report::gains(launch, what.obstacles),
                                             {}});
    for (const catalog::Chip& chip : what.chips) {
      if (chip.name != answer.chip) answer.elsewhere.push_back(on(chip, launch));
    }
  }
  return format == WhatIfFormat::kJson ? report::json(launches) : report::text(launches);
}

void add_what_if_command(CLI::App& app, const Context& context, RunScript run_script) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand(
      "whatif", "What a script or a saved program would gain without each obstacle");
  command->footer(
      "\nA saved program, or a Python script with its own arguments, follows the options.\n" +
      footer());
  command
      ->add_option("--obstacle", options->obstacles,
                   "Ask for this one only; may be repeated. A chip's name: the program there")
      ->allow_extra_args(false);
  command->add_option("--chip", options->chip,
                      "The chip: a name or your own .toml file; otherwise as recorded, or trn2");
  command->add_flag("--json{-}", options->json, "Print JSON");
  command->add_flag("--timing-only", options->timing_only,
                    "Leave the script's arithmetic out: times only, no values");
  command->prefix_command();
  command->callback([=] {
    take_script(*command, *options);
    parse(options->obstacles, context.hardware_dir);
    if (options->script.extension() != ".py") {
      const Recorded recorded(options->script, options->chip, context);
      const auto format = options->json.empty() ? WhatIfFormat::kText : WhatIfFormat::kJson;
      context.out << what_if(recorded.runs(), options->obstacles, context.hardware_dir, format);
      return;
    }
    options->what_if = true;
    require_runnable(*options, context);
    run_script(*options);
  });
}

}  // namespace trnsim::cli
