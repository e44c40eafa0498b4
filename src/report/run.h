// What a report is about: finished kernel launches, each with its program, its timeline and the
// chip that it was clocked for. Reports only look; whoever ran the kernels keeps the objects alive.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catalog/chip.h"
#include "program/program.h"
#include "timing/clock.h"

namespace trnsim::report {

// One NeuronCore's part in one launch of a kernel.
struct Run {
  std::string kernel;
  const program::Program* program;
  const timing::Timeline* timeline;
  const catalog::Chip* chip;
  int core = 0;
};

// A launch's runs stand one after the other with rising core numbers; a number that does not rise
// begins the next launch. Launches follow one another in time, the cores of one launch run side by
// side.
std::vector<std::span<const Run>> launches(std::span<const Run> runs);

// From the first instruction to the last result of the slowest core.
Picoseconds latency(std::span<const Run> launch);

}  // namespace trnsim::report
