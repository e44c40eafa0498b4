// One chip: its cores, the memory they share and the links to other chips. `core` is the
// catalogue's NeuronCore, or a changed one when a user's file overrides some of its figures.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/accuracy.h"
#include "catalog/core.h"

namespace trnsim::catalog {

// Published peaks of the whole chip. Matmul rooflines should use cores x the Tensor Engine instead:
// these presumably count the other engines as well.
struct ChipPeaks {
  std::optional<Number> bf16, tf32, fp32, fp8, mx, sparse, int8;
};

struct Hbm {
  std::string memory;  // "HBM", "DDR", ...
  Number capacity, bandwidth, stacks, cores_per_stack, latency;
  double bytes() const { return capacity * (1024.0 * 1024 * 1024); }
};

struct ChipDma {
  Number engines;
  std::optional<Number> bandwidth;
};

struct NeuronLink {
  std::string version;
  Number links;                         // neighbours in a torus, or switch ports
  Number bandwidth;                     // all links, both directions
  std::optional<Number> link_each_way;  // one link of the instance's network, one direction
  std::optional<Number>
      outer_link_each_way;  // one link between instances (UltraServer), one direction
  std::optional<Number> server_each_way, rack_each_way,
      cross_rack_each_way;  // switched systems, per chip
  Number hop_latency;
};

// Which algorithm the runtime picks within a node, by size, and its limits. Absent on Inferentia1.
struct Collectives {
  Number mesh_below, hypercube_below;  // above both: rings
  Number streams, channels, mesh_devices_max, ring_ranks_max;
  std::optional<Number> die_crossing_latency, die_crossing_slowdown, small_transfer;
  std::optional<Number> achieved_busbw;
};

struct Package {
  std::optional<Number> power, compute_dies;
  std::optional<std::string> process, launched;
};

struct Chip : Record {
  std::string neuroncore;  // name of the core's file, such as "neuroncore_v3"
  Number cores, logical_core_size, cc_cores;
  ChipPeaks peak;
  Hbm hbm;
  ChipDma dma;
  NeuronLink neuronlink;
  std::optional<Collectives> collectives;
  Number host_link_each_way;
  Package package;
  Core core;
  Accuracy accuracy;  // of predictions, on any chip

  double tensor_bf16_tflops() const { return cores * core.tensor.bf16_tflops(); }
};

}  // namespace trnsim::catalog
