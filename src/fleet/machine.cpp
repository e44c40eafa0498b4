#include "fleet/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "fabric/machine.h"

namespace trnsim::fleet {
namespace {

double value_or(const std::optional<catalog::Number>& number, double otherwise) {
  return number ? number->value : otherwise;
}

struct Parts {
  std::string_view name;
  std::optional<std::int64_t> count;
};

Parts parts_of(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {text, {}};
  const std::string_view digits = text.substr(colon + 1);
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (error != std::errc() || end != digits.data() + digits.size() || count < 1) {
    config_error("\"{}\": after the colon stands how many, 1 or more, as in {}:16", text,
                 text.substr(0, colon));
  }
  return {text.substr(0, colon), count};
}

bool same(const std::optional<std::string>& a, const std::string& b) { return a && *a == b; }

// The largest instance with this accelerator: what chips and GPUs on their own are taken from.
const catalog::Instance& instance_with(const catalog::Catalog& catalog, const std::string& name) {
  const catalog::Instance* best = nullptr;
  for (const catalog::Instance& instance : catalog.instances)
    if ((same(instance.chip, name) || same(instance.gpu, name)) &&
        (!best || instance.accelerators > best->accelerators))
      best = &instance;
  if (!best) config_error("no instance of the catalogue has {}; see trnsim chips", name);
  return *best;
}

struct Found {
  const catalog::Instance* instance = nullptr;
  const catalog::System* system = nullptr;
  const catalog::Cluster* cluster = nullptr;
  std::int64_t accelerators = 0;
};

Found found_from(const Parts& parts, const catalog::Catalog& catalog) {
  const catalog::Record& record =
      catalog.record(parts.name, "machine", {"instance", "system", "cluster", "chip", "gpu"});
  Found found;
  const auto whole = [](const catalog::Number& n) { return static_cast<std::int64_t>(n.value); };
  if (record.kind == "instance") {
    found.instance = &catalog.instance(record.name);
    found.accelerators = parts.count.value_or(1) * whole(found.instance->accelerators);
  } else if (record.kind == "system") {
    found.system = &catalog.system(record.name);
    found.accelerators = parts.count.value_or(1) * whole(found.system->accelerators);
  } else if (record.kind == "cluster") {
    found.cluster = &catalog.cluster(record.name);
    if (found.cluster->system) found.system = &catalog.system(*found.cluster->system);
    if (found.cluster->instance) found.instance = &catalog.instance(*found.cluster->instance);
    found.accelerators = parts.count.value_or(whole(found.cluster->accelerators));
  } else {
    found.instance = &instance_with(catalog, record.name);
    found.accelerators = parts.count.value_or(1);
  }
  if (!found.instance) {
    const catalog::System& system = *found.system;
    found.instance = system.instance
                         ? &catalog.instance(*system.instance)
                         : &instance_with(catalog, system.chip ? *system.chip : *system.gpu);
  }
  return found;
}

// What the ranks stand on: the cluster, the systems, or the instances, as the fabric knows them. A
// system whose network is not in the catalogue has that of instances with the same accelerators.
fabric::Topology topology_of(const Found& found, const catalog::Catalog& catalog) {
  const std::string& name = found.cluster  ? found.cluster->name
                            : found.system ? found.system->name
                                           : found.instance->name;
  fabric::Topology topology = fabric::find_topology(name, catalog);
  if (topology.network.cards == 0 && found.system) {
    topology.network = fabric::find_topology(found.instance->name, catalog).network;
    topology.network.cards *= topology.chips() / static_cast<int>(found.instance->accelerators);
  }
  const std::int64_t chips = topology.chips();
  topology.systems = (found.accelerators + chips - 1) / chips;
  return topology;
}

void add_price(Machine& machine, const catalog::Record& record, const char* path, const char* kind,
               double accelerators) {
  const catalog::Fact* fact = record.fact(path);
  if (!fact) return;
  machine.prices.push_back(
      {kind, std::get<double>(fact->value) / accelerators, fact->date, fact->source});
}

void add_prices(Machine& machine, const Found& found) {
  const double in_server = found.instance->accelerators;
  add_price(machine, *found.instance, "price.on_demand", "on-demand", in_server);
  add_price(machine, *found.instance, "price.capacity_block", "capacity-block", in_server);
  if (found.system)
    add_price(machine, *found.system, "capacity_block", "capacity-block",
              found.system->accelerators);
  add_price(machine, *found.instance, "price.reserved", "reserved", in_server);
}

double power_of(const Machine& machine, const Found& found) {
  if (found.instance->power) return *found.instance->power * 1e3 / found.instance->accelerators;
  return machine.training.power ? machine.training.power->value : 0;
}

}  // namespace

Machine find_machine(std::string_view text, const catalog::Catalog& catalog) {
  const Parts parts = parts_of(text);
  const Found found = found_from(parts, catalog);
  const catalog::Instance& instance = *found.instance;
  Machine machine;
  machine.name = text;
  machine.accelerators = found.accelerators;
  machine.accelerators_per_server = static_cast<std::int64_t>(instance.accelerators.value);
  machine.accelerators_per_system =
      found.system ? static_cast<std::int64_t>(found.system->accelerators.value)
                   : machine.accelerators_per_server;
  machine.accelerator = instance.chip ? *instance.chip : *instance.gpu;
  machine.training = catalog.training(machine.accelerator);
  if (instance.chip) {
    const catalog::Chip& chip = catalog.chip(*instance.chip);
    const int size = static_cast<int>(chip.logical_core_size);
    machine.title = chip.title;
    machine.ranks_per_accelerator = static_cast<int>(chip.cores) / size;
    machine.device = neuron_device(chip, size, machine.training.efficiency);
  } else {
    const catalog::Gpu& gpu = catalog.gpu(*instance.gpu);
    machine.title = gpu.title;
    machine.device = gpu_device(gpu, machine.training.efficiency);
  }
  machine.collectives = std::make_shared<Collectives>(topology_of(found, catalog), machine.ranks());
  add_prices(machine, found);
  if (machine.prices.empty()) {
    machine.priced_nearest = instance.chip ? "trn2.48xlarge" : "p5.48xlarge";
  }
  if (const double power = power_of(machine, found); power > 0) machine.power = power;
  if (found.cluster) machine.facility = value_or(found.cluster->power_overhead, 1);
  machine.storage = value_or(instance.storage.ebs, 80) * 1.25e8 / instance.accelerators;
  return machine;
}

Price price_of(const Machine& machine, std::string_view wanted) {
  if (wanted.empty()) {
    if (!machine.prices.empty()) return machine.prices.front();
    config_error(
        "{} has no public price; give --price USD per accelerator-hour. Nearest with one: {}",
        machine.name, machine.priced_nearest);
  }
  double usd = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), usd);
  if (error == std::errc() && end == wanted.data() + wanted.size()) {
    if (!(usd > 0)) {
      config_error("--price {}; a price is above 0. {}", wanted,
                   machine.prices.empty()
                       ? "Leave it out and no cost is printed."
                       : fmt::format("Published: {} USD per accelerator-hour, {}",
                                     machine.prices.front().usd, machine.prices.front().kind));
    }
    return {"your price", usd, "", "--price"};
  }
  std::string known;
  for (const Price& price : machine.prices) {
    if (price.kind == wanted) return price;
    known += (known.empty() ? "" : ", ") + price.kind;
  }
  config_error("{} has no {} price; {}", machine.name, wanted,
               known.empty() ? "none is public: give --price USD per accelerator-hour"
                             : "published: " + known);
}

}  // namespace trnsim::fleet
