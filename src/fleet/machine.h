// A fleet as a planner sees it: ranks that compute, what joins them, and what they cost. From a
// name of the catalogue and how many: "trn2-ultraserver:16", "p5.48xlarge:32", "rainier".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fleet/collectives.h"
#include "fleet/device.h"

namespace trnsim::fleet {

// Of one accelerator-hour.
struct Price {
  std::string kind;  // "on demand", "capacity block", "your price"
  double usd = 0;
  std::string date, source;
};

struct Machine {
  std::string name, accelerator, title;
  std::int64_t accelerators = 0;
  int ranks_per_accelerator = 1;
  std::int64_t accelerators_per_server = 1, accelerators_per_system = 1;
  std::shared_ptr<Device> device;
  std::shared_ptr<Collectives> collectives;
  std::vector<Price> prices;   // as published; the first is the one to plan with
  std::string priced_nearest;  // where there is none: a similar system that has one
  catalog::Training training;
  std::optional<double> power;  // watts of one accelerator with its share of the server
  double facility = 1;          // power of the building against that of the servers
  double storage = 0;           // bytes per second of one accelerator, to checkpoint storage
  double host_memory = 0;

  std::int64_t ranks() const { return accelerators * ranks_per_accelerator; }
};

// "name:count"; without a count one of it. Accelerators count where the name is a chip's, a GPU's
// or a cluster's. Throws ConfigError for unknown names and counts that make no sense.
Machine find_machine(std::string_view text, const catalog::Catalog& catalog);

// A price by kind ("on-demand", "capacity-block", "reserved") or in USD per accelerator-hour;
// empty: the first. Throws ConfigError where there is none, with the nearest.
Price price_of(const Machine& machine, std::string_view wanted);

}  // namespace trnsim::fleet
