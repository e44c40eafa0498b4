#include "fleet/event_step.h"

#include <algorithm>
#include <map>
#include <vector>

#include "base/error.h"

namespace trnsim::fleet {
namespace {

// splitmix64: a number of its own for each chip, whatever the order of asking.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

double uniform(std::uint64_t x) { return static_cast<double>(mixed(x) >> 11) * 0x1p-53; }

// One pipeline: what each stage does and when, for a replica whose stages are slower by a factor.
class Pipeline {
 public:
  Pipeline(const std::vector<StageTime>& stages, const Layout& layout)
      : stages_(stages),
        layout_(layout),
        batches_(layout.micro_batches()),
        ready_forward_(stages.size()),
        ready_backward_(stages.size()),
        free_(stages.size()) {}

  // Seconds until the last stage to finish has finished; `slow` by stage.
  double run(const std::vector<double>& slow) {
    const auto n = static_cast<std::size_t>(batches_);
    const std::size_t depth = stages_.size();
    for (std::size_t s = 0; s < depth; ++s) {
      ready_forward_[s].assign(n, 0);
      ready_backward_[s].assign(n, 0);
      free_[s] = 0;
      next_forward_.assign(depth, 0);
      next_backward_.assign(depth, 0);
    }
    // Stages take turns until all are done; each goes on as far as its neighbours let it.
    std::size_t open = depth * 2 * n;
    while (open > 0) {
      const std::size_t before = open;
      for (std::size_t s = 0; s < depth; ++s)
        while (advance(s, slow[s])) --open;
      for (std::size_t s = depth; s-- > 0;)
        while (advance(s, slow[s])) --open;
      if (open == before) internal_error("a pipeline of {} stages does not go on", depth);
    }
    return *std::max_element(free_.begin(), free_.end());
  }

  std::int64_t events() const { return events_; }

 private:
  // How many forward passes a stage makes before its first backward one.
  std::size_t warm_up(std::size_t stage) const {
    if (layout_.schedule == Schedule::kGpipe) return static_cast<std::size_t>(batches_);
    return std::min(static_cast<std::size_t>(batches_), stages_.size() - stage);
  }

  bool advance(std::size_t s, double slow) {
    const auto n = static_cast<std::size_t>(batches_);
    std::size_t &forward = next_forward_[s], &backward = next_backward_[s];
    const bool forwards = forward < n && forward < backward + warm_up(s);
    if (forwards) {
      if (s > 0 && next_forward_[s - 1] <= forward) return false;
      const double start = std::max(free_[s], ready_forward_[s][forward]);
      free_[s] = start + stages_[s].forward * slow;
      if (s + 1 < stages_.size()) ready_forward_[s + 1][forward] = free_[s];
      ++forward;
    } else {
      if (backward == n || forward <= backward) return false;
      if (s + 1 < stages_.size() && next_backward_[s + 1] <= backward) return false;
      const double start = std::max(free_[s], ready_backward_[s][backward]);
      free_[s] = start + stages_[s].backward * slow;
      if (s > 0) ready_backward_[s - 1][backward] = free_[s];
      ++backward;
    }
    ++events_;
    return true;
  }

  const std::vector<StageTime>& stages_;
  const Layout& layout_;
  std::int64_t batches_;
  std::vector<std::vector<double>> ready_forward_, ready_backward_;
  std::vector<double> free_;
  std::vector<std::size_t> next_forward_, next_backward_;
  std::int64_t events_ = 0;
};

// Which stage of which replica each straggler is in, drawn without looking at all chips.
std::map<std::int64_t, std::vector<double>> slow_replicas(const Layout& layout,
                                                          const Machine& machine,
                                                          const Stragglers& stragglers) {
  std::map<std::int64_t, std::vector<double>> slow;
  const std::int64_t inner = layout.tp * layout.cp, replicas = layout.dp;
  const auto factors = [&](std::int64_t replica) -> std::vector<double>& {
    return slow.try_emplace(replica, static_cast<std::size_t>(layout.pp), 1.0).first->second;
  };
  if (stragglers.jitter > 0) {
    for (std::int64_t r = 0; r < replicas; ++r) {
      std::vector<double>& by_stage = factors(r);
      for (std::int64_t s = 0; s < layout.pp; ++s) {
        double worst = 0;  // a stage is as slow as its slowest rank
        const std::int64_t first = (s * replicas + r) * inner;
        for (std::int64_t i = 0; i < inner; ++i)
          worst = std::max(worst, uniform(stragglers.seed ^ static_cast<std::uint64_t>(first + i)));
        by_stage[static_cast<std::size_t>(s)] = 1 + stragglers.jitter * worst;
      }
    }
  }
  for (std::int64_t i = 0; i < stragglers.count; ++i) {
    const std::uint64_t draw =
        mixed(stragglers.seed * 0x2545f4914f6cdd1dULL + static_cast<std::uint64_t>(i));
    const auto chip =
        static_cast<std::int64_t>(draw % static_cast<std::uint64_t>(machine.accelerators));
    const std::int64_t rank = chip * machine.ranks_per_accelerator;
    const std::int64_t replica = rank / inner % replicas, stage = rank / (inner * replicas);
    double& factor = factors(replica)[static_cast<std::size_t>(stage % layout.pp)];
    factor = std::max(factor, stragglers.slowdown);
  }
  return slow;
}

}  // namespace

EventStep event_step(Evaluator& evaluator, const Layout& layout, const Stragglers& stragglers) {
  if (layout.schedule == Schedule::kInterleaved)
    unsupported(
        "an event-level step of the interleaved schedule, because its order of chunks is "
        "not modelled; nearest: --schedule 1f1b");
  std::vector<StageTime> stages;
  double once = 0;
  for (const StageRun& run : evaluator.stages(layout)) {
    stages.insert(stages.end(), static_cast<std::size_t>(run.count), run.time);
    once = std::max(once, run.synchronise + run.optimizer);
  }
  once += static_cast<double>(layout.micro_batches()) * evaluator.machine().device->launch();
  Pipeline pipeline(stages, layout);
  EventStep result;
  result.replicas = layout.dp;
  const std::vector<double> even(static_cast<std::size_t>(layout.pp), 1.0);
  const double typical = pipeline.run(even);
  double slowest = typical;
  std::map<std::vector<double>, double> known{{even, typical}};
  for (const auto& [replica, factors] : slow_replicas(layout, evaluator.machine(), stragglers)) {
    const auto [it, first] = known.try_emplace(factors, 0);
    if (first) it->second = pipeline.run(factors);
    slowest = std::max(slowest, it->second);
  }
  result.different = static_cast<std::int64_t>(known.size());
  result.events = pipeline.events();
  result.without_stragglers = typical + once;
  result.seconds = slowest + once;
  result.waiting = slowest - typical;
  return result;
}

}  // namespace trnsim::fleet
