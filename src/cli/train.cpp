#include "cli/train.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/error.h"
#include "fleet/plan.h"

namespace trnsim::cli {
namespace {

struct Options {
  std::vector<std::pair<std::string, std::string>> set;
  std::string compare;
  bool json = false, search = false;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else if (c != ' ')
      parts.back() += c;
  }
  return parts;
}

std::string number(double value) { return fmt::format("{:.4g}", value); }

// One line per system, on equal terms: the same model, batch and tokens.
void compare(const Options& options, const Context& context) {
  const fleet::Folders folders = fleet::folders_beside(context.hardware_dir);
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  if (!options.json)
    context.out << fmt::format("{:<24} {:>8} {:>10} {:>7} {:>10} {:>12} {:>10} {:>6}  layout\n",
                               "system", "chips", "step s", "MFU %", "hours", "USD", "MWh", "fits");
  for (const std::string& system : split(options.compare)) {
    auto set = options.set;
    std::erase_if(set, [](const auto& option) { return option.first == "on"; });
    set.emplace_back("on", system);
    const fleet::Plan plan = fleet::make_plan(fleet::request_of(set), folders);
    if (options.json) {
      json.push_back(fleet::plan_json(plan));
      continue;
    }
    context.out << fmt::format("{:<24} {:>8} {:>10} {:>7.1f} {:>10} {:>12} {:>10} {:>6}  {}\n",
                               system, plan.machine.accelerators, number(plan.step.seconds),
                               100 * plan.step.mfu, number(plan.hours()),
                               plan.usd() ? number(*plan.usd()) : "no price",
                               plan.kwh() ? number(*plan.kwh() * 1e-3) : "unknown",
                               plan.fits() ? "yes" : "no", fleet::layout_text(plan.layout));
  }
  if (options.json) context.out << json.dump(2) << '\n';
}

void train(const Options& options, const Context& context) {
  if (!options.compare.empty()) return compare(options, context);
  const bool shown = options.search && isatty(STDERR_FILENO) != 0;
  const fleet::Plan plan =
      fleet::make_plan(fleet::request_of(options.set), fleet::folders_beside(context.hardware_dir),
                       options.search, [&](std::int64_t tried) {
                         if (shown)
                           context.err << "\rtrnsim: " << tried << " layouts" << std::flush;
                       });
  if (shown) context.err << "\r\033[K";
  if (options.json) {
    context.out << fleet::plan_json(plan).dump(2) << '\n';
    return;
  }
  context.out << fleet::plan_text(plan);
  if (options.search) context.out << fleet::search_text(plan);
}

}  // namespace

void add_train_command(CLI::App& app, const Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "train", "What training a model takes: time, memory, cost, energy, best layout");
  for (const fleet::Option& option : fleet::options()) {
    const std::string name(option.name), help(option.help);
    if (option.flag) {
      command->add_flag_function(
          "--" + name, [options, name](std::int64_t) { options->set.emplace_back(name, "true"); },
          help);
    } else {
      command->add_option_function<std::string>(
          name == "model" ? name : "--" + name,
          [options, name](const std::string& value) { options->set.emplace_back(name, value); },
          help);
    }
  }
  command->add_flag("--search", options->search,
                    "Find the best layout that fits; the top ten and why the others lose");
  command->add_option("--compare", options->compare,
                      "Systems side by side: trn1.32xlarge:64,p5.48xlarge:32");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([=] { train(*options, context); });
}

}  // namespace trnsim::cli
