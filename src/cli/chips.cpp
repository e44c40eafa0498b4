#include "cli/chips.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/error.h"
#include "catalog/catalog.h"
#include "cli/chips_text.h"

namespace trnsim::cli {
namespace {

// A name of anything in the catalogue, or the path of a user's chip file. The copy keeps facts
// only.
catalog::Record find_record(const std::string& name_or_file, const catalog::Catalog& catalog) {
  if (name_or_file.ends_with(".toml")) return catalog::load_chip_file(name_or_file, catalog);
  return catalog.record(name_or_file);
}

struct Options {
  bool json = false;
  std::string first, second;
};

void list(const Options& options, const Context& context) {
  const catalog::Catalog catalog = catalog::load(context.hardware_dir);
  if (options.json)
    context.out << list_json(catalog).dump(2) << '\n';
  else
    print_list(catalog, context.out);
}

void show(const Options& options, const Context& context) {
  const catalog::Record record = find_record(options.first, catalog::load(context.hardware_dir));
  if (options.json)
    context.out << record_json(record).dump(2) << '\n';
  else
    print_record(record, context.out);
}

void diff(const Options& options, const Context& context) {
  const catalog::Catalog catalog = catalog::load(context.hardware_dir);
  const catalog::Record left = find_record(options.first, catalog);
  const catalog::Record right = find_record(options.second, catalog);
  if (left.kind != right.kind)
    config_error("{} is a {} and {} is a {}; only things of one kind can be compared", left.name,
                 left.kind, right.name, right.kind);
  if (options.json)
    context.out << differences_json(left, right).dump(2) << '\n';
  else
    print_differences(left, right, context.out);
}

}  // namespace

void add_chips_command(CLI::App& app, const Context& context) {
  // CLI11 keeps pointers to the variables that it fills, so they live as long as the callbacks do.
  auto options = std::make_shared<Options>();
  CLI::App* chips =
      app.add_subcommand("chips", "The hardware catalogue: every figure with its source");
  chips->add_flag("--json", options->json, "Print JSON");
  chips->require_subcommand(0, 1);
  chips->fallthrough();

  CLI::App* show_command =
      chips->add_subcommand("show", "Everything about a chip, core, instance, system or GPU");
  show_command->add_option("name", options->first, "A name, or the path of your own chip file")
      ->required();
  show_command->fallthrough();

  CLI::App* diff_command = chips->add_subcommand("diff", "What differs between two of them");
  diff_command->add_option("first", options->first, "A name, or the path of your own chip file")
      ->required();
  diff_command->add_option("second", options->second, "A name, or the path of your own chip file")
      ->required();
  diff_command->fallthrough();

  chips->callback([=] {
    if (show_command->parsed())
      show(*options, context);
    else if (diff_command->parsed())
      diff(*options, context);
    else
      list(*options, context);
  });
}

}  // namespace trnsim::cli
