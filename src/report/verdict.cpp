#include "report/verdict.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "report/critical_path.h"
#include "report/instruction_text.h"
#include "report/time_text.h"

namespace trnsim::report {
namespace {

// The losses that an obstacle lies behind, those worth a word, the largest first; where it may lie
// behind any, the largest of all.
std::vector<LossUse> behind(const Summary& slowest, const Obstacle* obstacle) {
  constexpr double kWorthAWord = 0.01;
  std::vector<LossUse> uses{slowest.losses.front()};
  if (!obstacle || obstacle->losses == ~std::uint32_t{0}) return uses;
  uses.clear();
  for (const LossUse& use : slowest.losses) {
    if (obstacle->behind(use.loss) && (uses.empty() || use.share >= kWorthAWord))
      uses.push_back(use);
  }
  return uses;
}

// " at kernel.py:12", the line that loses most of it; nothing where no line was recorded.
std::string line_of(std::span<const Run> launch, std::span<const LossUse> uses) {
  const std::vector<Step> path = critical_path(launch, slowest_core(launch));
  const std::vector<Loss> losses = loss_of_each(launch, path);
  std::map<program::Site, Picoseconds> lines;
  for (std::size_t k = 0; k < path.size(); ++k) {
    if (std::ranges::find(uses, losses[k], &LossUse::loss) != uses.end())
      lines[site(*launch[path[k].core].program, path[k].instruction)] += path[k].time();
  }
  const auto most =
      std::ranges::max_element(lines, {}, [](const auto& line) { return line.second; });
  if (most == lines.end() || most->first.line == 0) return {};
  return fmt::format(", above all at {}:{}",
                     std::filesystem::path(most->first.file).filename().string(), most->first.line);
}

// "94 % of 153.60 us go to DMA issue and DMA latency, above all at kernel.py:12".
std::string evidence(std::span<const Run> launch, const Summary& slowest,
                     const Obstacle* obstacle) {
  const std::vector<LossUse> uses = behind(slowest, obstacle);
  std::vector<std::string_view> names;
  double share = 0;
  for (const LossUse& use : uses) {
    names.push_back(loss_name(use.loss));
    share += use.share;
  }
  return fmt::format("{:.0f} % of {} go to {}{}", share * 100, time_text(slowest.latency),
                     fmt::join(names, " and "), line_of(launch, uses));
}

}  // namespace

std::size_t slowest_core(std::span<const Run> launch) {
  std::size_t slowest = 0;
  for (std::size_t core = 0; core < launch.size(); ++core) {
    if (launch[core].timeline->total > launch[slowest].timeline->total) slowest = core;
  }
  return slowest;
}

Verdict judge(std::span<const Run> launch, const Summary& slowest, Effort effort) {
  Verdict verdict;
  if (slowest.latency.count == 0) {
    verdict.sentence = "nothing ran on the device";
    return verdict;
  }
  verdict.asked = effort == Effort::kFull && clocked_again_unasked(launch);
  if (effort == Effort::kFull) verdict.confidence = confidence_share(launch);
  const Likeness like = likeness(launch, slowest, verdict.confidence);
  verdict.interval = interval(like, launch.front().chip->accuracy.family(kernel_part(like)));
  if (verdict.asked) verdict.advice = advice(launch, slowest.losses_by_cause);
  const std::string where =
      evidence(launch, slowest, verdict.advice.empty() ? nullptr : verdict.advice[0].obstacle);
  if (!verdict.asked) {
    verdict.sentence =
        where + "; not clocked again unasked, which would take long: trnsim whatif does it";
  } else if (verdict.advice.empty()) {
    verdict.sentence = where + "; no change that was tried gains 2 %";
  } else {
    const Gain& first = verdict.advice.front();
    verdict.sentence = fmt::format("{}: {}; {:.2f}x expected, {} instead of {}; {}",
                                   first.obstacle->cause, first.obstacle->advice, first.speedup,
                                   time_text(first.latency), time_text(latency(launch)), where);
  }
  return verdict;
}

}  // namespace trnsim::report
