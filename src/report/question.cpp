#include "report/question.h"

#include <algorithm>

namespace trnsim::report {

Question::Question(std::span<const Run> launch) : chip(*launch.front().chip), launch_(launch) {
  options.scheduling = launch.front().timeline->scheduling;
}

program::Program& Question::program(std::size_t core) {
  if (programs_.empty()) {
    for (const Run& run : launch_) programs_.push_back(*run.program);
  }
  return programs_[core];
}

void Question::keep_first(std::size_t most) {
  const std::size_t each = most / launch_.size();
  if (std::ranges::all_of(launch_, [&](const Run& run) { return run.program->size() <= each; }))
    return;
  std::vector<program::Program> shortened;
  for (const Run& run : launch_) shortened.push_back(run.program->first(each));
  programs_ = std::move(shortened);
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
