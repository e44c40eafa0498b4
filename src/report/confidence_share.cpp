#include "report/confidence_share.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace trnsim::report {
namespace {

using catalog::Confidence;
using catalog::Core;
using catalog::Number;
using timing::Queue;

// The numbers behind one kind of step. Null pointers stand for what a core does not have.
struct Row {
  Cause cause;
  std::optional<Queue> queue;    // any when empty
  std::string_view instruction;  // any when empty
  std::array<const Number*, 3> (*numbers)(const Core&);
};

const Number* maybe(const std::optional<Number>& number) { return number ? &*number : nullptr; }

// All rows that fit a step count, so that an instruction's own guess adds to its engine's clock.
constexpr std::array kRows{
    Row{Cause::kWork, Queue::kTensor, "",
        [](const Core& c) {
          return std::array{&c.tensor.clock, &c.tensor.fp32_slowdown, &c.tensor.min_issue_cycles};
        }},
    Row{Cause::kWork, Queue::kVector, "",
        [](const Core& c) {
          return std::array<const Number*, 3>{&c.vector.clock, &c.vector.min_issue_cycles};
        }},
    Row{Cause::kWork, Queue::kScalar, "",
        [](const Core& c) {
          return std::array{&c.scalar.clock, &c.scalar.cycles_per_element,
                            &c.scalar.min_issue_cycles};
        }},
    Row{Cause::kWork, Queue::kGpsimd, "",
        [](const Core& c) {
          return c.gpsimd ? std::array{&c.gpsimd->clock, &c.gpsimd->start_cycles,
                                       &c.gpsimd->cycles_per_element}
                          : std::array<const Number*, 3>{};
        }},
    Row{Cause::kWork, Queue::kGpsimd, "tensor_partition_reduce",
        [](const Core& c) {
          return std::array<const Number*, 3>{c.gpsimd ? &c.gpsimd->partition_reduce_cycles
                                                       : nullptr};
        }},
    Row{Cause::kMeeting, std::nullopt, "core_barrier",
        [](const Core& c) { return std::array<const Number*, 3>{maybe(c.sync.core_barrier)}; }},
    Row{Cause::kMeeting, std::nullopt, "sendrecv",
        [](const Core& c) { return std::array<const Number*, 3>{maybe(c.sync.core_exchange)}; }},
    Row{Cause::kDmaLatency, std::nullopt, "sendrecv",
        [](const Core& c) { return std::array<const Number*, 3>{maybe(c.sync.core_exchange)}; }},
    Row{Cause::kWork, Queue::kVector, "tensor_tensor",
        [](const Core& c) { return std::array<const Number*, 3>{&c.vector.tensor_tensor_cycles}; }},
    Row{Cause::kWork, Queue::kVector, "reciprocal",
        [](const Core& c) { return std::array<const Number*, 3>{&c.vector.reciprocal_cycles}; }},
    Row{Cause::kWork, Queue::kVector, "bn_aggr",
        [](const Core& c) { return std::array<const Number*, 3>{&c.vector.bn_aggr_cycles}; }},
    Row{Cause::kColdArray, std::nullopt, "",
        [](const Core& c) {
          return c.tensor.ramp
                     ? std::array{&c.tensor.ramp->initial_rate, &c.tensor.ramp->full_after,
                                  &c.tensor.ramp->rearm_threshold}
                     : std::array<const Number*, 3>{};
        }},
    Row{Cause::kTableLoad, std::nullopt, "",
        [](const Core& c) { return std::array<const Number*, 3>{&c.scalar.table_load}; }},
    Row{Cause::kResultLatency, Queue::kTensor, "",
        [](const Core& c) { return std::array<const Number*, 3>{&c.tensor.fill_latency}; }},
    Row{Cause::kResultLatency, Queue::kVector, "",
        [](const Core& c) { return std::array<const Number*, 3>{&c.vector.drain}; }},
    Row{Cause::kResultLatency, Queue::kScalar, "",
        [](const Core& c) {
          return std::array<const Number*, 3>{&c.scalar.activation_drain, &c.scalar.copy_drain};
        }},
    Row{Cause::kResultLatency, Queue::kGpsimd, "",
        [](const Core& c) {
          return std::array<const Number*, 3>{c.gpsimd ? &c.gpsimd->drain : nullptr};
        }},
    Row{Cause::kSemaphore, std::nullopt, "",
        [](const Core& c) { return std::array<const Number*, 3>{&c.sync.semaphore_latency}; }},
    Row{Cause::kDmaIssue, std::nullopt, "",
        [](const Core& c) {
          return std::array<const Number*, 3>{&c.dma.issue, maybe(c.dma.hardware_issue)};
        }},
    Row{Cause::kDmaLatency, std::nullopt, "",
        [](const Core& c) {
          return std::array{&c.dma.trigger_latency, &c.dma.store_trigger_latency,
                            &c.dma.completion_latency};
        }},
    Row{Cause::kDmaDescriptors, std::nullopt, "",
        [](const Core& c) { return std::array<const Number*, 3>{&c.dma.descriptor_fixed}; }},
    Row{Cause::kDmaBandwidth, std::nullopt, "",
        [](const Core& c) {
          return std::array<const Number*, 3>{&c.dma.sustained_rate, &c.dma.partitions_per_engine};
        }},
    Row{Cause::kDmaBandwidth, std::nullopt, "dma_transpose",
        [](const Core& c) {
          return std::array<const Number*, 3>{&c.dma.transpose_hbm_fraction,
                                              &c.dma.transpose_sbuf_fraction};
        }},
};

// Weakest last: the enumerators stand in this order.
Confidence weakest(const Core& core, Cause cause, Queue queue, std::string_view instruction) {
  auto worst = Confidence::kDocumented;
  for (const Row& row : kRows) {
    if (row.cause != cause || (row.queue && *row.queue != queue)) continue;
    if (!row.instruction.empty() && row.instruction != instruction) continue;
    for (const Number* number : row.numbers(core)) {
      if (number) worst = std::max(worst, number->confidence);
    }
  }
  return worst;
}

}  // namespace

ConfidenceShare confidence_share(std::span<const Run> launch, std::span<const Step> path) {
  std::array<std::int64_t, 4> time{};
  std::int64_t all = 0;
  for (const Step& step : path) {
    const Run& run = launch[step.core];
    const std::string_view name = run.program->type((*run.program)[step.instruction]).info.name;
    const Queue queue = run.timeline->entries[step.instruction].queue;
    const Confidence confidence = weakest(run.chip->core, step.cause, queue, name);
    time[static_cast<std::size_t>(confidence)] += step.time().count;
    all += step.time().count;
  }
  ConfidenceShare share{};
  for (std::size_t i = 0; i < share.size(); ++i) {
    share[i] = all == 0 ? 0.0 : static_cast<double>(time[i]) / static_cast<double>(all);
  }
  return share;
}

}  // namespace trnsim::report
