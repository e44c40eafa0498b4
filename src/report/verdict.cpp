#include "report/verdict.h"

#include <fmt/core.h>

#include "report/time_text.h"

namespace trnsim::report {

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
  const LossUse& most = slowest.losses.front();
  const std::string where = fmt::format("{} takes {:.0f} % of {}", loss_name(most.loss),
                                        most.share * 100, time_text(slowest.latency));
  if (verdict.asked) verdict.advice = advice(launch, slowest.losses_by_cause);
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
