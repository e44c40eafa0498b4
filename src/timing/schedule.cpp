#include "timing/schedule.h"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <utility>

#include "base/error.h"
#include "isa/cost.h"
#include "timing/dma_engines.h"
#include "timing/liberties.h"

namespace trnsim::timing {

namespace {

constexpr std::array<std::string_view, 2> kNames{"program", "list"};

template <class T>
using Smallest = std::priority_queue<T, std::vector<T>, std::greater<>>;

class ListScheduler {
 public:
  ListScheduler(const program::Program& program, const Dependencies& dependencies,
                const KeptOrders& kept, std::span<const std::uint32_t> stand_ins,
                const catalog::Chip& chip)
      : program_(program),
        dependencies_(dependencies),
        core_(chip.core),
        model_(core_),
        hbm_{chip.hbm.bandwidth},
        dma_(core_.dma, hbm_),
        ready_(program.size()),
        open_(program.size(), 0),
        placed_(program.size(), false) {
    for (std::size_t i = 0; i < stand_ins.size(); ++i) placed_[i] = stand_ins[i] != kKept;
    left_ = static_cast<std::size_t>(std::count(placed_.begin(), placed_.end(), false));
    link(kept);
    for (std::size_t i = 0; i < program.size(); ++i) {
      if (program.type(program[i]).meeting) meetings_.push_back(static_cast<std::uint32_t>(i));
    }
  }

  std::vector<std::uint32_t> run() {
    std::vector<std::uint32_t> order;
    order.reserve(left_);
    while (order.size() < left_) {
      widen();
      order.push_back(place_first());
    }
    return order;
  }

 private:
  struct Candidate {
    Picoseconds ready;
    std::uint32_t instruction;
    auto operator<=>(const Candidate&) const = default;
  };
  struct Stream {
    Picoseconds free;
    Smallest<std::uint32_t> startable;  // ready when the stream falls free
    Smallest<Candidate> later;
  };

  template <class Fn>
  void for_each_before(const KeptOrders& kept, Fn&& fn) const {
    for (std::size_t i = 0; i < program_.size(); ++i) {
      if (placed_[i]) continue;
      for (const Dependency& dependency : dependencies_.of(i))
        fn(dependency.on, static_cast<std::uint32_t>(i));
    }
    for (const auto& [before, after] : kept) {
      if (!placed_[before] && !placed_[after]) fn(before, after);
    }
    for (const program::Stretch& stretch : program_.in_order()) {
      std::uint64_t before = stretch.first;
      for (std::uint64_t i = stretch.first + 1; i < stretch.last; ++i) {
        if (placed_[i]) continue;
        if (!placed_[before]) fn(static_cast<std::uint32_t>(before), static_cast<std::uint32_t>(i));
        before = i;
      }
    }
  }

  // Turns "waits for" round into lists of who waits.
  void link(const KeptOrders& kept) {
    first_.assign(program_.size() + 1, 0);
    for_each_before(kept, [&](std::uint32_t before, std::uint32_t after) {
      ++first_[before + 1];
      ++open_[after];
    });
    for (std::size_t i = 0; i < program_.size(); ++i) first_[i + 1] += first_[i];
    followers_.resize(first_.back());
    std::vector<std::uint64_t> next(first_.begin(), first_.end() - 1);
    for_each_before(kept, [&](std::uint32_t before, std::uint32_t after) {
      followers_[next[before]++] = after;
    });
  }

  // Lets the window reach as far as the oldest instruction that is left allows. Nothing moves
  // across a meeting with another core.
  void widen() {
    while (oldest_ < program_.size() && placed_[oldest_]) ++oldest_;
    while (next_meeting_ < meetings_.size() && placed_[meetings_[next_meeting_]]) ++next_meeting_;
    std::size_t end = std::min<std::size_t>(oldest_ + kLookAhead, program_.size());
    if (next_meeting_ < meetings_.size()) {
      const std::size_t meeting = meetings_[next_meeting_];
      end = std::min(end, oldest_ == meeting ? meeting + 1 : meeting);
    }
    for (; admitted_ < end; ++admitted_) {
      if (open_[admitted_] == 0 && !placed_[admitted_])
        offer(static_cast<std::uint32_t>(admitted_));
    }
  }

  void offer(std::uint32_t i) {
    streams_[static_cast<std::size_t>(dependencies_.queue(i))].later.push({ready_[i], i});
  }

  std::uint32_t place_first() {
    Stream* best = nullptr;
    Candidate first{};
    for (Stream& stream : streams_) {
      while (!stream.later.empty() && stream.later.top().ready <= stream.free) {
        stream.startable.push(stream.later.top().instruction);
        stream.later.pop();
      }
      if (stream.startable.empty() && stream.later.empty()) continue;
      const Candidate candidate = stream.startable.empty()
                                      ? stream.later.top()
                                      : Candidate{stream.free, stream.startable.top()};
      if (best && first < candidate) continue;
      best = &stream;
      first = candidate;
    }
    if (!best) internal_error("nothing is left to schedule; {} of {}", oldest_, program_.size());
    best->startable.empty() ? best->later.pop() : best->startable.pop();
    place(*best, first);
    return first.instruction;
  }

  void place(Stream& stream, const Candidate& candidate) {
    const std::uint32_t i = candidate.instruction;
    const isa::Cost cost = cost_on(program_, i, dependencies_.queue(i), model_);
    Picoseconds end = candidate.ready + cost.latency;
    stream.free = candidate.ready + cost.occupancy;
    if (is_dma(dependencies_.queue(i))) {
      const catalog::Dma& dma = core_.dma;
      stream.free = candidate.ready + from_ns(dma.issue);
      end = dma_.serve(cost.dma, 1, 0, stream.free + from_ns(dma.trigger_latency), i).end +
            from_ns(dma.completion_latency);
    }
    placed_[i] = true;
    for (std::uint64_t f = first_[i]; f < first_[i + 1]; ++f) {
      const std::uint32_t follower = followers_[f];
      const bool same = dependencies_.queue(follower) == dependencies_.queue(i);
      const Picoseconds seen = end + (same ? Picoseconds{} : from_ns(core_.sync.semaphore_latency));
      ready_[follower] = std::max(ready_[follower], seen);
      if (--open_[follower] == 0 && follower < admitted_) offer(follower);
    }
  }

  const program::Program& program_;
  const Dependencies& dependencies_;
  const catalog::Core& core_;
  isa::CostModel model_;
  Hbm hbm_;
  DmaEngines dma_;
  std::vector<Picoseconds> ready_;   // as far as known
  std::vector<std::uint32_t> open_;  // how many it still has to come after
  std::vector<bool> placed_;
  std::vector<std::uint64_t> first_;  // of each instruction: where its followers begin
  std::vector<std::uint32_t> followers_;
  std::vector<std::uint32_t> meetings_;
  std::array<Stream, kQueueCount> streams_;
  std::size_t left_ = 0;  // to place in all
  std::size_t oldest_ = 0, admitted_ = 0, next_meeting_ = 0;
};

}  // namespace

std::string_view scheduling_name(Scheduling scheduling) {
  return kNames[static_cast<std::size_t>(scheduling)];
}

std::optional<Scheduling> scheduling_named(std::string_view name) {
  const auto it = std::find(kNames.begin(), kNames.end(), name);
  if (it == kNames.end()) return std::nullopt;
  return static_cast<Scheduling>(it - kNames.begin());
}

Scheduling usual_scheduling(const program::Program& program) {
  return program.dialect == program::Dialect::kBeta1 ? Scheduling::kList : Scheduling::kProgram;
}

std::vector<std::uint32_t> list_order(const program::Program& program,
                                      const Dependencies& dependencies, const KeptOrders& kept,
                                      std::span<const std::uint32_t> stand_ins,
                                      const catalog::Chip& chip) {
  return ListScheduler(program, dependencies, kept, stand_ins, chip).run();
}

}  // namespace trnsim::timing
