// A finished launch clocked again with something about it changed: figures of the chip, options of
// the clock, or some of its instructions.
#pragma once

#include <span>
#include <vector>

#include "report/run.h"

namespace trnsim::report {

class Question {
 public:
  // Nothing changed yet. The launch must outlive the question.
  explicit Question(std::span<const Run> launch);

  std::span<const Run> launch() const { return launch_; }
  catalog::Chip chip;
  timing::Options options;

  // A copy of a core's program, to be changed.
  program::Program& program(std::size_t core);
  // Leaves only the first `most` instructions, counted over all cores, each of which keeps as many.
  void keep_first(std::size_t most);

  // Of the whole launch.
  Picoseconds latency() const;

 private:
  std::span<const Run> launch_;
  std::vector<program::Program> programs_;  // empty while none is changed
};

}  // namespace trnsim::report
