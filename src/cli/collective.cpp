#include "cli/collective.h"

#include <CLI/CLI.hpp>
#include <cctype>
#include <charconv>
#include <memory>
#include <ostream>

#include "base/error.h"
#include "catalog/catalog.h"
#include "cli/collective_rows.h"
#include "fabric/machine.h"
#include "fabric/plan.h"
#include "fabric/schedule_file.h"
#include "numerics/dtype.h"
#include "report/output_file.h"

namespace trnsim::cli {
namespace {

struct CollectiveOptions {
  std::string collective, on = "trn2.48xlarge", size = "1KiB:1GiB", dtype = "bfloat16";
  std::string algorithm, plot, json, memory = "hbm";
  std::filesystem::path schedule;
  std::int64_t ranks = 0, groups = 1;
  std::vector<std::int64_t> which;
  int logical_core_size = 0;
  std::vector<std::string> down;
  bool links = false, unfolded = false;
};

// "8", "8B", "64KiB", "1MB": whole bytes.
std::int64_t parse_size(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string unit(end, text.data() + text.size());
  for (char& c : unit) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::pair<const char*, std::int64_t> kUnits[] = {
      {"", 1},        {"b", 1},          {"k", 1 << 10},       {"kib", 1 << 10},
      {"m", 1 << 20}, {"mib", 1 << 20},  {"g", 1 << 30},       {"gib", 1 << 30},
      {"kb", 1000},   {"mb", 1'000'000}, {"gb", 1'000'000'000}};
  for (const auto& [name, scale] : kUnits)
    if (error == std::errc{} && value >= 0 && unit == name) {
      if (value > (std::int64_t{1} << 50) / scale) config_error("{} is more than 1 PiB", text);
      return value * scale;
    }
  config_error("\"{}\" is no size; write 8, 64KiB, 1MB or a range such as 8B:1GiB", text);
}

// MIN:MAX, doubling, or one size, or several with commas between.
std::vector<std::int64_t> parse_sizes(const std::string& text) {
  std::vector<std::int64_t> sizes;
  if (const std::size_t colon = text.find(':'); colon != std::string::npos) {
    const std::int64_t last = parse_size(text.substr(colon + 1));
    std::int64_t size = parse_size(text.substr(0, colon));
    if (size < 1 || size > last)
      config_error("{}: a range of sizes goes from at least 1 byte upwards", text);
    for (; size <= last; size *= 2) sizes.push_back(size);
    return sizes;
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    sizes.push_back(parse_size(text.substr(at, comma - at)));
    at = comma + 1;
  }
  return sizes;
}

// "chip 5" or "link 3->7" (both directions: "link 3-7").
void mark_down(const std::string& text, fabric::Topology* topology) {
  std::int64_t a = -1, b = -1;
  int used = 0;
  const std::int64_t chips = topology->systems * topology->chips();
  const auto check = [&](std::int64_t chip) {
    if (chip < 0 || chip >= chips)
      config_error("--down \"{}\": {} has chips 0 to {}", text, topology->name, chips - 1);
  };
  const auto done = [&] { return used == static_cast<int>(text.size()); };
  if (std::sscanf(text.c_str(), "chip %ld%n", &a, &used) == 1 && done()) {
    check(a);
    topology->down_chips.insert(a);
  } else if (std::sscanf(text.c_str(), "link %ld->%ld%n", &a, &b, &used) == 2 && done()) {
    check(a);
    check(b);
    topology->down_links.insert({a, b});
  } else if (std::sscanf(text.c_str(), "link %ld-%ld%n", &a, &b, &used) == 2 && done()) {
    check(a);
    check(b);
    topology->down_links.insert({a, b});
    topology->down_links.insert({b, a});
  } else {
    config_error("--down \"{}\" is neither \"chip 5\" nor \"link 3-7\" nor \"link 3->7\"", text);
  }
}

// What nccom-test calls bus bandwidth: the algorithm's, times the share of the data that each rank
// must at least send.
double bus_factor(fabric::Collective collective, double ranks) {
  switch (collective) {
    case fabric::Collective::kAllReduce:
      return 2 * (ranks - 1) / ranks;
    case fabric::Collective::kAllGather:
    case fabric::Collective::kReduceScatter:
    case fabric::Collective::kAllToAll:
      return (ranks - 1) / ranks;
    default:
      return 1;
  }
}

CollectiveTable measure(const CollectiveOptions& options, const Context& context) {
  const catalog::Catalog catalog = catalog::load(context.hardware_dir);
  fabric::Topology topology = fabric::find_topology(options.on, catalog, options.logical_core_size);
  for (const std::string& down : options.down) mark_down(down, &topology);
  const std::optional<numerics::Dtype> dtype = numerics::dtype_from_name(options.dtype);
  if (!dtype) config_error("there is no dtype \"{}\"", options.dtype);
  if (options.memory != "hbm" && options.memory != "sbuf")
    config_error("--memory is hbm or sbuf, not \"{}\"", options.memory);
  fabric::Request request;
  request.collective = fabric::collective_from_name(options.collective);
  request.element_bytes = numerics::info(*dtype).bytes;
  request.groups = options.groups;
  if (options.groups < 1) config_error("--groups is at least 1");
  request.size = (options.ranks ? options.ranks : topology.ranks()) / options.groups;
  if (options.ranks && options.ranks % options.groups != 0)
    config_error("{} ranks cannot be {} equal groups", options.ranks, options.groups);
  if (!options.which.empty()) {
    if (options.ranks) config_error("--ranks and --which say the same; give one of them");
    const auto given = static_cast<std::int64_t>(options.which.size());
    if (given % options.groups != 0)
      config_error("{} ranks cannot be {} equal groups", given, options.groups);
    request.ranks = options.which;
    request.size = given / options.groups;
  }
  request.algorithm = options.algorithm;
  request.in_memory = options.memory == "hbm";
  if (!options.schedule.empty())
    request.schedule = fabric::load_schedule(options.schedule, static_cast<int>(request.size));
  CollectiveTable table{.collective = options.collective,
                        .topology = options.on,
                        .accelerator = topology.accelerator,
                        .dtype = options.dtype,
                        .ranks = request.size * request.groups,
                        .groups = request.groups,
                        .rows = {}};
  for (const std::int64_t bytes : parse_sizes(options.size)) {
    request.elements = (bytes + request.element_bytes - 1) / request.element_bytes;
    const fabric::Plan plan = fabric::make_plan(topology, request);
    CollectiveRow row{.bytes = request.bytes(),
                      .count = request.elements,
                      .algorithm = plan.algorithm,
                      .cost = fabric::clock(topology, plan, {.fold = !options.unfolded})};
    row.us = row.cost.time.us();
    row.algorithm_gb_per_s = row.us > 0 ? static_cast<double>(row.bytes) * 1e-3 / row.us : 0;
    row.bus_gb_per_s =
        row.algorithm_gb_per_s * bus_factor(request.collective, static_cast<double>(request.size));
    table.rows.push_back(std::move(row));
  }
  return table;
}

void run_collective(const CollectiveOptions& options, const Context& context) {
  const bool print_json = options.json == "-";
  if (!options.plot.empty()) report::require_writable(options.plot);
  const CollectiveTable table = measure(options, context);
  if (!options.plot.empty()) report::write_file(options.plot, table_svg(table));
  if (print_json)
    context.out << table_json(table, options.links) << '\n';
  else if (!options.json.empty())
    report::write_file(options.json, table_json(table, options.links));
  if (!print_json) print_table(table, options.links, context.out);
  if (!options.plot.empty() && !print_json)
    context.out << "Plot written to " << options.plot << '\n';
}

}  // namespace

void add_collective_command(CLI::App& app, const Context& context) {
  auto options = std::make_shared<CollectiveOptions>();
  CLI::App* command =
      app.add_subcommand("collective", "Time a collective on a topology, as nccom-test would");
  command
      ->add_option(
          "collective", options->collective,
          "all_reduce, all_gather, reduce_scatter, all_to_all, permute, broadcast, sendrecv")
      ->required();
  command
      ->add_option("--on", options->on,
                   "An instance, UltraServer or cluster (trn2.48xlarge:4 is four), or your own "
                   ".toml topology")
      ->capture_default_str();
  command->add_option("--ranks", options->ranks, "Ranks in all; without it, every one there is");
  command->add_option("--which", options->which, "Which ranks, in the order of the group: 0,32")
      ->delimiter(',')
      ->type_name("RANKS");
  command->add_option("--groups", options->groups, "Equal groups that run at the same time");
  command
      ->add_option("--size", options->size,
                   "Bytes of the larger buffer of a rank: 1MiB, 8B:1GiB (doubling) or 1KiB,1MiB")
      ->capture_default_str();
  command->add_option("--dtype", options->dtype, "Type of the elements")->capture_default_str();
  command->add_option("--algorithm", options->algorithm,
                      "mesh, single_step_mesh, rdh, kangaring, ring; A+B within and between "
                      "instances; without it, as the runtime chooses");
  command->add_option("--schedule", options->schedule, "Your own schedule, a .toml file")
      ->type_name("FILE");
  command->add_option("--lnc", options->logical_core_size, "Physical cores per rank");
  command->add_option("--memory", options->memory, "hbm or sbuf")->capture_default_str();
  command->add_option("--down", options->down,
                      "What does not work: \"chip 5\", \"link 3-7\", \"link 3->7\"");
  command->add_flag("--links", options->links,
                    "Also what each link, port and card carries (JSON: memories and queues too)");
  command->add_flag("--unfolded", options->unfolded, "Clock every rank, even those that are alike");
  command->add_option("--plot", options->plot, "Write bandwidth and time over size, as SVG")
      ->type_name("FILE");
  command->add_flag("--json{-}", options->json,
                    "Print the table as JSON, or write it to a file: --json=FILE");
  command->callback([=] { run_collective(*options, context); });
}

}  // namespace trnsim::cli
