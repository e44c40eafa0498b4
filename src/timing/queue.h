// The instruction streams of a NeuronCore: one per engine, and for DMA one per direction, so that a
// store that waits for its data does not hold up the loads behind it. Each stream runs in order.
#pragma once

#include <cstdint>
#include <string_view>

#include "isa/instruction.h"
#include "program/program.h"

namespace trnsim::timing {

enum class Queue : std::uint8_t {
  kTensor,
  kVector,
  kScalar,
  kGpsimd,
  kSync,
  kDmaLoad,
  kDmaStore,
  kDmaLocal
};
inline constexpr int kQueueCount = 8;

constexpr bool is_dma(Queue queue) { return queue >= Queue::kDmaLoad; }
std::string_view queue_name(Queue queue);
Queue queue_of(const program::Program& program, const program::Instruction& instruction);

}  // namespace trnsim::timing
