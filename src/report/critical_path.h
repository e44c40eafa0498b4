// The chain of instructions that decides when a program ends, found backwards from the last result:
// each instruction began when the one it waited for let it. Every picosecond of the latency falls
// into exactly one step.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "report/run.h"

namespace trnsim::report {

// What the time of a step went into.
enum class Cause : std::uint8_t {
  kWork,            // an engine at its rate
  kMeeting,         // a barrier, or an exchange on an engine, once all cores are there
  kColdArray,       // what the Tensor Engine's current limiter adds
  kTableLoad,       // activation tables
  kResultLatency,   // from the end of the work until the result is visible
  kSemaphore,       // telling another engine
  kDmaIssue,        // building or ringing in descriptors
  kDmaLatency,      // trigger and completion
  kDmaDescriptors,  // fixed cost of each transfer and of each contiguous piece
  kDmaBandwidth,    // bytes
  kIdle,            // nothing to wait for: the start of the program
};
inline constexpr int kCauseCount = 11;
std::string_view cause_name(Cause cause);

struct Step {
  std::uint32_t instruction;
  std::uint8_t core;  // whose instruction: an index into the launch
  Cause cause;
  Picoseconds from, to;
  Picoseconds time() const { return to - from; }
};

// What decided when `core` of a launch ended, in the order of time. It leads through other cores
// where this one waited for them.
std::vector<Step> critical_path(std::span<const Run> launch, std::size_t core);
inline std::vector<Step> critical_path(const Run& run) { return critical_path({&run, 1}, 0); }

}  // namespace trnsim::report
