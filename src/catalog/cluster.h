// A named fleet: how many accelerators of which kind, and what is known of its power and network.
#pragma once

#include <optional>
#include <string>

#include "catalog/fact.h"

namespace trnsim::catalog {

struct Cluster : Record {
  std::optional<std::string> chip, gpu, system, instance;  // what it is made of
  Number accelerators;
  std::optional<Number> accelerators_planned, buildings, buildings_planned;
  std::optional<Number> power, power_planned, building_power, power_overhead, investment;
  std::optional<Number> peak_bf16, peak_fp8;
  std::string fabric;
  Number network_latency, oversubscription;
  std::optional<Number> server_network;
  std::vector<std::string> mix;
};

}  // namespace trnsim::catalog
