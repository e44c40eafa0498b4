// The catalogue: everything that hardware/*.toml says, as plain structs with their sources. Loaded
// once, then read only. Names are matched without regard to case, and "-" equals "_"; aliases such
// as "trn2" work everywhere.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/chip.h"
#include "catalog/cluster.h"
#include "catalog/core.h"
#include "catalog/fabric.h"
#include "catalog/gpu.h"
#include "catalog/instance.h"
#include "catalog/system.h"
#include "catalog/training.h"

namespace trnsim::catalog {

struct Catalog {
  std::filesystem::path directory;
  Accuracy accuracy;
  std::vector<Core> cores;
  std::vector<Chip> chips;
  std::vector<Instance> instances;
  std::vector<System> systems;
  std::vector<Cluster> clusters;
  std::vector<Gpu> gpus;
  std::vector<Fabric> fabrics;
  std::vector<Training> trainings;

  // An unknown name throws ConfigError with the nearest one and the list.
  const Core& core(std::string_view name) const;
  const Chip& chip(std::string_view name) const;
  const Instance& instance(std::string_view name) const;
  const System& system(std::string_view name) const;
  const Cluster& cluster(std::string_view name) const;
  const Gpu& gpu(std::string_view name) const;
  // How the chips or GPUs of that name talk; null where nothing is known.
  const Fabric* fabric_of(std::string_view accelerator) const;
  // By the name of the chip or GPU; an accelerator without a record throws MissingSpec.
  const Training& training(std::string_view accelerator) const;

  // Anything, of whatever kind, in the order of the members above.
  const Record& record(std::string_view name) const;
  // The same among some kinds alone: {"instance", "system"}. `what` is what the error calls them.
  const Record& record(std::string_view name, std::string_view what,
                       std::initializer_list<std::string_view> kinds) const;
  std::vector<const Record*> records() const;
};

Catalog load(const std::filesystem::path& hardware_dir);

// A user's own chip. With `base = "trainium2"` the file states only what differs; figures of the
// core stand under [core.tensor] and the like.
Chip load_chip_file(const std::filesystem::path& file, const Catalog& catalog);

// A user's own network: the shape and, where they matter, the costs of steps.
Fabric load_fabric_file(const std::filesystem::path& file);

// What --chip accepts: a name, or the path of a user's file (it ends in ".toml").
Chip find_chip(std::string_view name_or_file, const Catalog& catalog);

}  // namespace trnsim::catalog
