// A scale-up system of several servers: an UltraServer, or an NVLink rack.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/fact.h"

namespace trnsim::catalog {

struct SystemFabric {
  std::string topology;  // "torus 4x4x4", "switched"
  std::optional<Number> link_bandwidth,
      outer_link_bandwidth;  // per accelerator, all links, both directions
  std::optional<Number> hops_max, switch_levels, hop_latency;
};

struct System : Record {
  std::optional<std::string> chip, gpu, instance;
  Number accelerators, servers, accelerators_per_server;
  std::optional<Number> racks, vcpus, host_memory, device_memory, device_bandwidth, efa, power;
  std::optional<std::string> cooling, host_processor;
  std::optional<Number> peak_bf16, peak_fp32, peak_fp8, peak_mx, peak_sparse;
  std::optional<Number> capacity_block;
  SystemFabric fabric;
};

}  // namespace trnsim::catalog
