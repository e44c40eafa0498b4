// How accelerators talk: what one step of a collective costs beside its bytes, how much of a link
// or a memory a transfer gets, and, in a user's own file, the shape of the network. What an
// instance or an UltraServer is joined by stands in its own file.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "catalog/fact.h"

namespace trnsim::catalog {

struct FabricSteps {
  Number start;                         // before the first step
  Number direct;                        // a step between any two ranks: mesh, halving and doubling
  Number reduction;                     // what the same step takes longer where it reduces
  std::optional<Number> ring, network;  // a step between neighbours; after a network message
};

struct FabricRates {
  std::optional<Number> stream, mesh_rank, memory_efficiency, link_efficiency, network_efficiency;
};

// Where the algorithm depends on more than the chip's own thresholds.
struct FabricChoices {
  std::optional<Number> flat_ring_from;
};

// One dimension of a user's own topology, the innermost first.
struct FabricAxis {
  std::optional<std::string> kind;  // "ring", "line" or "switch"
  std::optional<Number> size, each_way, latency;
};

struct FabricShape {
  std::optional<Number> ranks_per_accelerator, memory;
  std::array<FabricAxis, 4> axes;
};

struct Fabric : Record {
  std::vector<std::string> serves;  // chips or GPUs
  FabricSteps steps;
  FabricRates rates;
  FabricChoices choices;
  FabricShape shape;
};

}  // namespace trnsim::catalog
