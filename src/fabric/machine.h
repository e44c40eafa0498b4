// From names to topologies: an instance, an UltraServer or a GPU system of the catalogue, several
// of them ("trn2.48xlarge:4"), a cluster, or a user's own file.
#pragma once

#include <string_view>

#include "catalog/catalog.h"
#include "fabric/topology.h"

namespace trnsim::fabric {

// `logical_core_size` 0: the chip's default. Throws ConfigError for an unknown name and Unsupported
// for a shape that is not modelled.
Topology find_topology(std::string_view name, const catalog::Catalog& catalog,
                       int logical_core_size = 0);

}  // namespace trnsim::fabric
