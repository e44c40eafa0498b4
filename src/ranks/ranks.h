// Clocks the programs of several ranks together. Each rank's program is clocked as ever; where it
// takes part in a collective, the fabric says when the rank is through, given when each came, and
// that is written into the rank's instruction, so that any later clock of the program knows it.
//
// All launches begin at the same time. A collective lasts as the fabric says, but at least as long
// as the rank's own DMA engines and memory need for its part of the data, which it shares with what
// else the rank does: both are slowed.
#pragma once

#include <span>
#include <vector>

#include "catalog/chip.h"
#include "fabric/plan.h"
#include "fabric/topology.h"
#include "timing/clock.h"

namespace trnsim::ranks {

// The programs of one launch on one rank, core by core.
using Programs = std::vector<program::Program*>;

struct Place {
  std::size_t launch, core;
  std::uint32_t instruction;
};

// One collective: what, and where each rank of the group takes part, in the order of the group.
struct Step {
  fabric::Request request;
  std::vector<Place> places;
};

// `steps` in the order in which they took place. Returns the timelines of each launch.
std::vector<std::vector<timing::Timeline>> clock(std::span<const Programs> launches,
                                                 std::span<const Step> steps,
                                                 const fabric::Topology& topology,
                                                 const catalog::Chip& chip,
                                                 const timing::Options& options = {});

}  // namespace trnsim::ranks
