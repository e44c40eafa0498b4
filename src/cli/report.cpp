#include "cli/report.h"

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <ostream>

#include "base/error.h"
#include "cli/recorded.h"
#include "report/comparison.h"
#include "report/output_file.h"
#include "report/page.h"

namespace trnsim::cli {
namespace {

namespace fs = std::filesystem;

struct PageOptions {
  fs::path program, output;
  std::string chip;
};

void write_report(const PageOptions& options, const Context& context) {
  const fs::path output = options.output.empty()
                              ? fs::path(options.program).replace_extension(".html")
                              : options.output;
  report::require_writable(output);
  const Recorded recorded(options.program, options.chip, context);
  const std::vector<report::Run> runs = recorded.runs();
  const report::Side side{options.program.filename().string(), runs};
  report::write_page({&side, 1}, output);
  context.out << "Report written to " << output.string() << "; open it in a browser\n";
}

struct DiffOptions {
  fs::path before, after, page, json;
  std::vector<std::string> chips;
};

// Tells the sides apart where one program is compared with itself on two chips.
std::string label(const fs::path& program, const std::string& chip) {
  return program.filename().string() + (chip.empty() ? "" : " on " + chip);
}

void diff(const DiffOptions& options, const Context& context) {
  if (!options.page.empty()) report::require_writable(options.page);
  if (!options.json.empty() && options.json != "-") report::require_writable(options.json);
  if (options.chips.size() > 2) config_error("trnsim diff takes --chip at most twice");
  const std::string chip_before = options.chips.empty() ? "" : options.chips.front();
  const std::string chip_after = options.chips.empty() ? "" : options.chips.back();
  const Recorded before(options.before, chip_before, context);
  const Recorded after(options.after, chip_after, context);
  const std::vector<report::Run> then = before.runs(), now = after.runs();
  const report::Comparison comparison = report::compare(then, now);
  if (!options.page.empty()) {
    const std::array sides{report::Side{label(options.before, chip_before), then},
                           report::Side{label(options.after, chip_after), now}};
    report::write_page(sides, options.page);
  }
  if (options.json == "-") {
    context.out << report::json(comparison);
    return;
  }
  if (!options.json.empty()) report::write_file(options.json, report::json(comparison));
  context.out << report::text(comparison);
  if (!options.page.empty())
    context.out << "Report written to " << options.page.string() << "; open it in a browser\n";
}

}  // namespace

void add_report_command(CLI::App& app, const Context& context) {
  auto options = std::make_shared<PageOptions>();
  CLI::App* command = app.add_subcommand(
      "report", "Write the report of a saved program as one HTML page, also offline");
  command->add_option("program", options->program, "What `trnsim run --save` wrote")->required();
  command
      ->add_option("-o,--output", options->output,
                   "The page; without it, beside the program, with the ending .html")
      ->type_name("FILE");
  command->add_option("--chip", options->chip,
                      "The chip: a name or your own .toml file; without it, as recorded");
  command->callback([=] { write_report(*options, context); });
}

void add_diff_command(CLI::App& app, const Context& context) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* command =
      app.add_subcommand("diff", "Compare two saved programs, or one program on two chips");
  command->add_option("before", options->before, "What `trnsim run --save` wrote")->required();
  command->add_option("after", options->after, "The one to compare it with")->required();
  command
      ->add_option("--chip", options->chips,
                   "The chip of both; given twice, of the first and of the second")
      ->allow_extra_args(false);
  command->add_option("--report", options->page, "Write both as a page, side by side")
      ->type_name("FILE");
  command->add_flag("--json{-}", options->json,
                    "Print the comparison as JSON, or write it to a file: --json=FILE");
  command->callback([=] { diff(*options, context); });
}

}  // namespace trnsim::cli
