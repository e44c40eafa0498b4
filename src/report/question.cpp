#include "report/question.h"

#include <algorithm>

namespace trnsim::report {

Question::Question(std::span<const Run> launch) : chip(*launch.front().chip), launch_(launch) {}

program::Program& Question::program(std::size_t core) {
  if (programs_.empty()) {
    for (const Run& run : launch_) programs_.push_back(*run.program);
  }
  return programs_[core];
}

Picoseconds Question::latency() const {
  std::vector<const program::Program*> programs;
  for (std::size_t core = 0; core < launch_.size(); ++core)
    programs.push_back(programs_.empty() ? launch_[core].program : &programs_[core]);
  Picoseconds longest;
  for (const timing::Timeline& timeline : timing::clock(programs, chip, options))
    longest = std::max(longest, timeline.total);
  return longest;
}

}  // namespace trnsim::report
