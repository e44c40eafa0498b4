#include "report/critical_path.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "timing/dma_engines.h"

namespace trnsim::report {
namespace {

using timing::Entry;

class Walk {
 public:
  Walk(std::span<const Run> launch, std::size_t core)
      : launch_(launch), core_(static_cast<std::uint8_t>(core)), model_(launch[core].chip->core) {}

  std::vector<Step> back_from_the_end() {
    const auto& entries = run().timeline->entries;
    if (entries.empty()) return {};
    const auto last =
        std::max_element(entries.begin(), entries.end(),
                         [](const Entry& a, const Entry& b) { return a.end < b.end; });
    auto at = static_cast<std::uint32_t>(last - entries.begin());
    until_ = last->end;
    for (;;) {
      const Entry& entry = run().timeline->entries[at];
      if (!timing::is_dma(entry.queue)) {
        engine_work(at, entry);
      } else if (queued(entry)) {
        data_movement(at, entry, entry.served_from);
        at = entry.served_after;
        core_ = entry.served_core;
        continue;
      } else {
        data_movement(at, entry, entry.start + entry.prelude);
        step(at, Cause::kDmaLatency, entry.busy_end);
        step(at, Cause::kDmaIssue, entry.start);
      }
      if (entry.waited_for == timing::kNobody) break;
      const Entry& other = launch_[entry.waited_core].timeline->entries[entry.waited_for];
      step(at, Cause::kSemaphore, release(entry, other));
      at = entry.waited_for;
      core_ = entry.waited_core;
    }
    step(at, Cause::kIdle, {});
    std::reverse(path_.begin(), path_.end());
    return std::move(path_);
  }

 private:
  // Charges the time from `from` until the point reached so far.
  void step(std::uint32_t i, Cause cause, Picoseconds from) {
    if (from >= until_) return;
    path_.push_back({i, core_, cause, from, until_});
    until_ = from;
  }

  // Whether the path runs through the transfer that the DMA engines served before this one. It does
  // not where only the issue of this one held up the queue.
  bool queued(const Entry& entry) const {
    return entry.served_after != timing::kNobody && until_ > entry.served_from;
  }

  // When `other` let `entry` start; what is left until the start is the signal's way. Readers
  // release their operands at the end of their work, writers with their result: whichever the wait
  // can have been for.
  static Picoseconds release(const Entry& entry, const Entry& other) {
    switch (entry.wait) {
      case timing::Wait::kEngine:  // of the Tensor Engine it may have been a part of the array
        return entry.queue == timing::Queue::kTensor ? entry.start : other.busy_end;
      case timing::Wait::kPort:
        return other.busy_end;
      case timing::Wait::kBarrier:
        return other.start;  // both begin at once
      case timing::Wait::kReuse:
        return other.end <= entry.start ? other.end : other.busy_end;
      default:
        return other.end;
    }
  }

  isa::Cost cost(std::uint32_t i) const {
    const program::Program& program = *run().program;
    return program.type(program[i]).cost(program.args(program[i]), model_);
  }

  void engine_work(std::uint32_t i, const Entry& entry) {
    const Picoseconds work = entry.start + entry.prelude;
    if (entry.queue == timing::Queue::kTensor) {
      const isa::Cost full_rate = cost(i);
      step(i, Cause::kResultLatency, entry.end - (full_rate.latency - full_rate.array_busy));
      step(i, Cause::kColdArray, work + full_rate.array_busy);
    } else {
      step(i, Cause::kResultLatency, entry.busy_end);
    }
    const bool meets = run().program->type((*run().program)[i]).meeting != nullptr;
    step(i, meets ? Cause::kMeeting : Cause::kWork, work);
    step(i, Cause::kTableLoad, entry.start);
  }

  void data_movement(std::uint32_t i, const Entry& entry, Picoseconds begin) {
    const catalog::Dma& dma = run().chip->core.dma;
    const isa::DmaWork work = cost(i).dma;
    step(i, Cause::kDmaLatency, std::max(begin, entry.end - timing::notice(dma, work)));
    if (until_ <= begin) return;
    const timing::EngineTime time =
        timing::engine_time(dma, work, timing::lanes_of_an_engine(dma, work));
    const double fixed = time.fixed + time.moving > 0 ? time.fixed / (time.fixed + time.moving) : 0;
    const double small = fixed * static_cast<double>((until_ - begin).count);
    step(i, Cause::kDmaBandwidth, begin + Picoseconds{std::llround(small)});
    step(i, Cause::kDmaDescriptors, begin);
  }

  const Run& run() const { return launch_[core_]; }

  std::span<const Run> launch_;
  std::uint8_t core_;  // that the path has led to
  isa::CostModel model_;
  std::vector<Step> path_;
  Picoseconds until_;
};

}  // namespace

std::string_view cause_name(Cause cause) {
  constexpr std::array<std::string_view, kCauseCount> kNames{
      "work",      "meeting",   "cold array",  "table load",      "result latency",
      "semaphore", "DMA issue", "DMA latency", "DMA descriptors", "DMA bandwidth",
      "idle"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::vector<Step> critical_path(std::span<const Run> launch, std::size_t core) {
  return Walk(launch, core).back_from_the_end();
}

}  // namespace trnsim::report
