#include "fabric/machine.h"

#include <charconv>
#include <cmath>

#include "base/error.h"

namespace trnsim::fabric {
namespace {

using catalog::Catalog;
using catalog::Number;

std::int64_t bytes_per_second(double gigabytes) { return std::llround(gigabytes * 1e9); }
std::int64_t gigabits(double gbps) { return std::llround(gbps * 1.25e8); }
double or_one(const std::optional<Number>& ratio) { return ratio ? ratio->value : 1.0; }
std::int64_t or_none(const std::optional<Number>& rate) {
  return rate ? bytes_per_second(*rate) : 0;
}

void set_steps(Topology& topology, const catalog::Fabric& fabric) {
  const auto& steps = fabric.steps;
  topology.steps.start = from_ns(steps.start);
  topology.steps.direct = from_ns(steps.direct);
  topology.steps.reduction = from_ns(steps.reduction);
  if (steps.ring) topology.steps.ring = from_ns(*steps.ring);
  if (steps.network) topology.steps.network = from_ns(*steps.network);
  topology.steps.stream = or_none(fabric.rates.stream);
  topology.steps.mesh_rank = or_none(fabric.rates.mesh_rank);
}

// What holds for every topology of these chips, whatever joins them.
void set_chip(Topology& topology, const catalog::Chip& chip, const catalog::Fabric& fabric,
              int logical_core_size) {
  const int most = static_cast<int>(chip.logical_core_size);
  if (logical_core_size < 0 || logical_core_size > most)
    config_error("a logical core of {} has {}, not {}", chip.name,
                 most == 1 ? "1 core" : fmt::format("1 to {} cores", most), logical_core_size);
  topology.accelerator = chip.name;
  topology.ranks_per_chip =
      static_cast<int>(chip.cores) / (logical_core_size ? logical_core_size : most);
  topology.memory = bytes_per_second(chip.hbm.bandwidth * or_one(fabric.rates.memory_efficiency));
  topology.steps.ring = from_ns(chip.neuronlink.hop_latency);
  set_steps(topology, fabric);
  Choices& choices = topology.choices;
  choices.engines = chip.collectives.has_value();
  if (fabric.choices.flat_ring_from)
    choices.flat_ring_from = std::llround(*fabric.choices.flat_ring_from);
  if (!chip.collectives) return;
  choices.mesh_below = std::llround(chip.collectives->mesh_below);
  choices.halving_below = std::llround(chip.collectives->hypercube_below);
  choices.mesh_chips_max = static_cast<int>(chip.collectives->mesh_devices_max);
  choices.kanga_ranks_max = static_cast<int>(chip.collectives->ring_ranks_max);
  choices.channels_max = static_cast<int>(chip.collectives->channels);
}

void set_gpu(Topology& topology, const catalog::Gpu& gpu, const catalog::Fabric& fabric) {
  topology.accelerator = gpu.name;
  topology.memory = bytes_per_second(gpu.memory_bandwidth);
  set_steps(topology, fabric);
  topology.choices.pairs = false;
}

void set_accelerator(Topology& topology, const std::optional<std::string>& chip,
                     const std::optional<std::string>& gpu, const Catalog& catalog, int lnc) {
  const std::string& name = chip ? *chip : *gpu;
  const catalog::Fabric* fabric =
      catalog.fabric_of(chip ? catalog.chip(name).name : catalog.gpu(name).name);
  if (!fabric)
    unsupported("{}, because no file of hardware/fabrics serves {}", topology.name, name);
  if (chip)
    set_chip(topology, catalog.chip(name), *fabric, lnc);
  else
    set_gpu(topology, catalog.gpu(name), *fabric);
}

void set_network(Topology& topology, const catalog::Instance& instance, double servers,
                 const Catalog& catalog) {
  if (!instance.network.efa || !instance.network.efa_latency) return;
  const double cards =
      instance.network.efa_cards ? instance.network.efa_cards->value : instance.accelerators.value;
  const catalog::Fabric& fabric = *catalog.fabric_of(topology.accelerator);
  topology.network.cards = static_cast<int>(cards * servers);
  topology.network.each_way = std::llround(static_cast<double>(gigabits(*instance.network.efa)) /
                                           cards * or_one(fabric.rates.network_efficiency));
  topology.network.latency = from_ns(*instance.network.efa_latency * 1e3);
}

Axis axis(AxisKind kind, double size, double each_way_gigabytes) {
  return {kind, static_cast<int>(size), bytes_per_second(each_way_gigabytes), {}};
}

// The axes of one instance. Published bandwidths per chip count every link in both directions.
void add_inner_axes(Topology& topology, const catalog::Instance& instance, const Catalog& catalog) {
  const int chips = static_cast<int>(instance.accelerators);
  const std::string& shape = instance.topology;
  const double both_ways = instance.link_bandwidth ? instance.link_bandwidth->value : 0;
  if (shape == "single") {
    topology.axes.push_back(axis(AxisKind::kLine, 1, 0));
  } else if (shape == "line" || shape == "ring") {
    topology.axes.push_back(
        axis(shape == "ring" ? AxisKind::kRing : AxisKind::kLine, chips, both_ways / 4));
  } else if (shape == "torus 4x4") {
    for (int i = 0; i < 2; ++i) topology.axes.push_back(axis(AxisKind::kRing, 4, both_ways / 8));
  } else if (shape == "nvswitch") {
    const double efficiency =
        or_one(catalog.fabric_of(topology.accelerator)->rates.link_efficiency);
    topology.axes.push_back(axis(AxisKind::kSwitch, chips, both_ways / 2 * efficiency));
  } else if (shape == "switched") {
    const auto& link = catalog.chip(*instance.chip).neuronlink;
    topology.axes.push_back(axis(AxisKind::kSwitch, chips, link.server_each_way.value()));
  } else {
    unsupported("{}, because the links of the shape \"{}\" are not in the catalogue one by one",
                instance.name, shape);
  }
  topology.inner_axes = static_cast<int>(topology.axes.size());
}

Topology of_instance(const catalog::Instance& instance, const Catalog& catalog, int lnc) {
  Topology topology;
  topology.name = instance.name;
  set_accelerator(topology, instance.chip, instance.gpu, catalog, lnc);
  add_inner_axes(topology, instance, catalog);
  set_network(topology, instance, 1, catalog);
  return topology;
}

Topology of_system(const catalog::System& system, const Catalog& catalog, int lnc) {
  Topology topology;
  topology.name = system.name;
  set_accelerator(topology, system.chip, system.gpu, catalog, lnc);
  const double servers = system.servers;
  if (system.fabric.topology == "nvswitch") {
    // One level of switches joins all GPUs, whichever tray they are in.
    const double both_ways = system.gpu ? catalog.gpu(*system.gpu).link_bandwidth.value : 0;
    const double efficiency =
        or_one(catalog.fabric_of(topology.accelerator)->rates.link_efficiency);
    topology.axes.push_back(
        axis(AxisKind::kSwitch, system.accelerators, both_ways / 2 * efficiency));
    topology.inner_axes = 1;
  } else if (system.instance) {
    add_inner_axes(topology, catalog.instance(*system.instance), catalog);
    const auto& link = catalog.chip(*system.chip).neuronlink;
    if (system.fabric.topology == "torus 4x4x4") {
      topology.axes.push_back(
          axis(AxisKind::kRing, servers, link.outer_link_each_way.value().value));
    } else {  // by address: (rack, server, chip)
      const double racks = system.racks ? system.racks->value : 1;
      topology.axes.push_back(
          axis(AxisKind::kSwitch, servers / racks, link.rack_each_way.value().value));
      topology.axes.push_back(
          axis(AxisKind::kSwitch, racks, link.cross_rack_each_way.value().value));
    }
  }
  if (system.instance) set_network(topology, catalog.instance(*system.instance), servers, catalog);
  return topology;
}

// Its systems or instances, with the cluster's own network where that is known.
Topology of_cluster(const catalog::Cluster& cluster, const Catalog& catalog, int lnc) {
  if (!cluster.system && !cluster.instance)
    unsupported("{}, because the catalogue does not say which systems it is made of", cluster.name);
  Topology topology = cluster.system
                          ? of_system(catalog.system(*cluster.system), catalog, lnc)
                          : of_instance(catalog.instance(*cluster.instance), catalog, lnc);
  topology.systems = std::llround(cluster.accelerators) / topology.chips();
  if (topology.network.cards == 0) return topology;
  topology.network.latency = from_ns(cluster.network_latency * 1e3);
  if (cluster.server_network) {
    const double servers = static_cast<double>(topology.chips()) / topology.inner_chips();
    const double efficiency =
        or_one(catalog.fabric_of(topology.accelerator)->rates.network_efficiency);
    topology.network.each_way =
        std::llround(static_cast<double>(gigabits(*cluster.server_network)) * servers /
                     topology.network.cards * efficiency);
  }
  return topology;
}

AxisKind axis_kind(const std::string& kind, const std::string& file) {
  if (kind == "ring") return AxisKind::kRing;
  if (kind == "line") return AxisKind::kLine;
  if (kind == "switch") return AxisKind::kSwitch;
  config_error("{}: the kind of an axis is ring, line or switch, not \"{}\"", file, kind);
}

Topology of_file(const catalog::Fabric& fabric) {
  Topology topology;
  topology.name = fabric.name;
  topology.accelerator = "accelerator";
  const auto& shape = fabric.shape;
  topology.ranks_per_chip =
      shape.ranks_per_accelerator ? static_cast<int>(*shape.ranks_per_accelerator) : 1;
  topology.memory = or_none(shape.memory);
  topology.choices.pairs = false;
  set_steps(topology, fabric);
  for (const catalog::FabricAxis& given : shape.axes) {
    if (!given.kind) break;
    if (!given.size || !given.each_way || *given.size < 1 || *given.each_way <= 0)
      config_error("{}: an axis needs a kind, a size of at least 1 and each_way above 0",
                   fabric.file);
    topology.axes.push_back(axis(axis_kind(*given.kind, fabric.file), *given.size,
                                 *given.each_way * or_one(fabric.rates.link_efficiency)));
    if (given.latency) topology.axes.back().latency = from_ns(*given.latency);
  }
  if (topology.axes.empty())
    config_error("{}: a topology needs an [axis1] with kind, size and each_way", fabric.file);
  topology.inner_axes = static_cast<int>(topology.axes.size());
  return topology;
}

Topology one(std::string_view name, const Catalog& catalog, int lnc) {
  if (name.ends_with(".toml")) return of_file(catalog::load_fabric_file(std::string(name)));
  const catalog::Record& record =
      catalog.record(name, "machine", {"instance", "system", "cluster"});
  if (record.kind == "instance") return of_instance(catalog.instance(record.name), catalog, lnc);
  if (record.kind == "cluster") return of_cluster(catalog.cluster(record.name), catalog, lnc);
  return of_system(catalog.system(record.name), catalog, lnc);
}

}  // namespace

Topology find_topology(std::string_view name, const Catalog& catalog, int logical_core_size) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string_view::npos) return one(name, catalog, logical_core_size);
  const std::string_view text = name.substr(colon + 1);
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{} || end != text.data() + text.size() || count < 1)
    config_error("{}: after the colon stands how many, at least 1", name);
  Topology topology = one(name.substr(0, colon), catalog, logical_core_size);
  topology.systems *= count;
  if (topology.systems > 1 && topology.network.cards == 0)
    unsupported("{}, because nothing joins several {} (no EFA)", name, topology.name);
  return topology;
}

}  // namespace trnsim::fabric
