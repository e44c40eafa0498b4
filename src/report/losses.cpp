#include "report/losses.h"

#include "numerics/functions.h"

namespace trnsim::report {
namespace {

using timing::Entry;
using timing::Queue;

Loss engine_work(Queue queue) {
  switch (queue) {
    case Queue::kTensor:
      return Loss::kTensorEngine;
    case Queue::kVector:
      return Loss::kVectorEngine;
    case Queue::kScalar:
      return Loss::kScalarEngine;
    case Queue::kGpsimd:
      return Loss::kGpsimdEngine;
    default:
      return Loss::kSyncEngine;
  }
}

const Entry& entry_of(std::span<const Run> launch, const Step& step) {
  return launch[step.core].timeline->entries[step.instruction];
}

// Whether the next instruction on the path had to wait for this one's port.
bool held_port(std::span<const Run> launch, std::span<const Step> path, std::size_t i) {
  const Step& step = path[i];
  for (std::size_t next = i + 1; next < path.size(); ++next) {
    if (path[next].instruction == step.instruction && path[next].core == step.core) continue;
    const Entry& entry = entry_of(launch, path[next]);
    return entry.wait == timing::Wait::kPort && entry.waited_for == step.instruction;
  }
  return false;
}

Loss loss_of(std::span<const Run> launch, std::span<const Step> path, std::size_t i) {
  const Step& step = path[i];
  switch (step.cause) {
    case Cause::kWork: {
      if (held_port(launch, path, i)) return Loss::kPortConflict;
      const program::Program& program = *launch[step.core].program;
      const program::Instruction& instruction = program[step.instruction];
      if (evicts_psum(program.type(instruction), program.args(instruction)))
        return Loss::kPsumEvictions;
      return engine_work(entry_of(launch, step).queue);
    }
    case Cause::kMeeting:
      return Loss::kBarrier;
    case Cause::kColdArray:
      return Loss::kClockRamp;
    case Cause::kTableLoad:
      return Loss::kTableLoads;
    case Cause::kResultLatency:
      return Loss::kResultLatency;
    case Cause::kSemaphore:
      return Loss::kSemaphores;
    case Cause::kDmaIssue:
      return Loss::kDmaIssue;
    case Cause::kDmaLatency:
      return Loss::kDmaLatency;
    case Cause::kDmaDescriptors:
      return Loss::kDmaSmall;
    case Cause::kDmaBandwidth:
      return entry_of(launch, step).by_hbm ? Loss::kHbmBandwidth : Loss::kDmaBandwidth;
    case Cause::kIdle:
      break;
  }
  return Loss::kIdle;
}

}  // namespace

std::string_view loss_name(Loss loss) {
  constexpr std::array<std::string_view, kLossCount> kNames{
      "Tensor Engine",  "Vector Engine", "Scalar Engine",  "GpSimd Engine", "Sync Engine",
      "result latency", "semaphores",    "DMA latency",    "DMA issue",     "small DMA transfers",
      "DMA bandwidth",  "HBM bandwidth", "PSUM evictions", "table loads",   "clock ramp",
      "port conflicts", "barriers",      "idle",           "launch"};
  return kNames[static_cast<std::size_t>(loss)];
}

bool evicts_psum(const isa::InstructionType& type, const void* args) {
  const auto* bytes = static_cast<const std::byte*>(args);
  bool reads_psum = false, copies = type.info.name == "tensor_copy";
  isa::for_each_tile(type, args, [&](const isa::FieldInfo& field, const isa::Tile& tile) {
    reads_psum |= isa::reads(field.access) && tile.space == memory::Space::kPsum;
  });
  if (type.info.name == "activation") {
    for (const isa::FieldInfo& field : type.fields) {
      copies |= field.kind == isa::FieldKind::kActivation &&
                *reinterpret_cast<const numerics::ActivationFunction*>(bytes + field.offset) ==
                    numerics::ActivationFunction::kCopy;
    }
  }
  return reads_psum && copies;
}

std::vector<Loss> loss_of_each(std::span<const Run> launch, std::span<const Step> path) {
  std::vector<Loss> list;
  list.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) list.push_back(loss_of(launch, path, i));
  return list;
}

Losses losses(std::span<const Run> launch, std::span<const Step> path) {
  Losses losses{};
  for (std::size_t i = 0; i < path.size(); ++i)
    losses[static_cast<std::size_t>(loss_of(launch, path, i))] += path[i].time();
  if (!launch.empty())
    losses[static_cast<std::size_t>(Loss::kLaunch)] = launch.front().timeline->launch;
  return losses;
}

}  // namespace trnsim::report
