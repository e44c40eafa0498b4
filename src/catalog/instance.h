// One EC2 instance type: which accelerators, how they are joined, the host, the network, and what
// an hour costs.
#pragma once

#include <optional>
#include <string>

#include "catalog/fact.h"

namespace trnsim::catalog {

struct Host {
  std::optional<Number> vcpus, memory, sockets, clock;
  std::optional<std::string> processor;
};

struct Network {
  std::optional<Number> bandwidth, burst_bandwidth;  // ordinary network
  std::optional<Number> efa, efa_cards;
  std::optional<std::string> efa_generation;
  std::optional<Number> efa_latency;
};

struct Storage {
  std::optional<Number> ebs, nvme;
};

// USD per hour and instance; the dates are with the facts.
struct Price {
  std::optional<Number> on_demand, previous_on_demand, reserved, capacity_block, govcloud;

  // The rate to plan with: On-Demand where it is sold, else Capacity Block, else reserved.
  std::optional<Number> best_known() const {
    return on_demand ? on_demand : capacity_block ? capacity_block : reserved;
  }
};

struct Instance : Record {
  std::optional<std::string> chip, gpu;  // exactly one of them
  Number accelerators;
  std::string topology;  // "single", "line", "ring", "torus 4x4", "nvswitch"
  std::optional<Number> device_memory, device_bandwidth;
  std::optional<Number>
      link_bandwidth;  // per accelerator, all links within the instance, both directions
  std::optional<Number> outer_link_bandwidth;  // the same between the instances of an UltraServer
  std::optional<Number> peak_bf16, peak_fp32, peak_fp8, peak_sparse, peak_int8;
  std::optional<Number> power;
  Host host;
  Network network;
  Storage storage;
  Price price;
};

}  // namespace trnsim::catalog
