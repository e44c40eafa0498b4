// Where the time of a run went, in a closed list of causes: every picosecond of the critical path
// falls under exactly one, the launch beside it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "report/critical_path.h"

namespace trnsim::report {

enum class Loss : std::uint8_t {
  kTensorEngine,  // waits for its work
  kVectorEngine,
  kScalarEngine,
  kGpsimdEngine,
  kSyncEngine,
  kResultLatency,  // of any engine
  kSemaphores,     // one engine telling another
  kDmaLatency,     // trigger, completion
  kDmaIssue,       // building or ringing in descriptors
  kDmaSmall,       // fixed cost of descriptors: what longer pieces would save
  kDmaBandwidth,   // bytes at the rate of the DMA engines
  kHbmBandwidth,   // ... where the HBM was what they waited for
  kPsumEvictions,  // copies out of PSUM
  kTableLoads,
  kClockRamp,
  kPortConflict,  // work of an engine that kept another from a port both need
  kBarrier,       // meetings of cores
  kIdle,          // nothing to wait for: before the first instruction
  kLaunch,        // fixed time of the executable, not in the latency
};
inline constexpr int kLossCount = 19;
std::string_view loss_name(Loss loss);

using Losses = std::array<Picoseconds, kLossCount>;  // by Loss

// What each step of a critical path falls under.
std::vector<Loss> loss_of_each(std::span<const Run> launch, std::span<const Step> path);

// Of one core of a launch. All but kLaunch add up to the end of its last result.
Losses losses(std::span<const Run> launch, std::span<const Step> path);

// Moves a tile out of PSUM and changes nothing about it but its dtype.
bool evicts_psum(const isa::InstructionType& type, const void* args);

}  // namespace trnsim::report
