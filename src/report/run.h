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

// When an instruction does its work: data on the move, or the engine busy.
struct TimeSpan {
  Picoseconds from, to;
  auto operator<=>(const TimeSpan&) const = default;
};
TimeSpan work_of(const Run& run, const timing::Entry& entry);

// The time in at least one of the spans.
Picoseconds covered(std::vector<TimeSpan> spans);

// As their queues took them: in the order of the program unless the clock chose another.
std::vector<const timing::Entry*> in_order_of_starts(const timing::Timeline& timeline);

// From the first instruction to the last result of the slowest core.
Picoseconds latency(std::span<const Run> launch);

}  // namespace trnsim::report
