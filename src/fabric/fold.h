// Folding: ranks that do the same at the same time on resources of their own are clocked once.
//
// A collective folds by systems when every system is alike, holds the same part of every group and
// all chunks are equally large: then shifting systems (or, for halving, flipping bits of their
// numbers) maps the whole schedule onto itself. Several groups may lie side by side in each system.
// It folds further, to the ranks of one chip, when each stage goes along one axis that wraps
// around. Groups that stay within their system fold together unless something in their system is
// down. What does not fold is clocked in full.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/plan.h"

namespace trnsim::fabric {

enum class FoldKind : std::uint8_t { kNone, kAlikeSystems, kSystems, kChips };

struct Fold {
  FoldKind kind = FoldKind::kNone;
  std::int64_t ranks_per_system = 0, chips_per_system = 0, ranks_per_chip = 1;
  std::int64_t group_size = 0, group_per_system = 0;  // ranks of a group: all, in one system
  std::int64_t per_system = 0;                        // resources
  std::vector<std::int64_t> representatives;          // of the ranks, as numbers within the groups
  std::vector<std::int64_t> system_of_class;          // kAlikeSystems: which system stands for each

  std::int64_t rank(std::int64_t rank) const;
  std::int64_t resource(std::int64_t resource, const ResourceMap& map) const;
};

Fold find_fold(const Topology& topology, const Plan& plan, bool allowed);

}  // namespace trnsim::fabric
