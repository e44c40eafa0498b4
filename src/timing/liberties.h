// What the compiler of Beta 1 makes of a program besides its order (docs/timing-model.md has the
// evidence). Work that a loop does anew in each round, although nothing of it changes, moves out of
// the loop; instructions that more than one engine can do go to the one with less work. Values play
// no part.
#pragma once

#include <cstdint>
#include <vector>

#include "catalog/chip.h"
#include "isa/cost.h"
#include "program/program.h"
#include "timing/hazards.h"
#include "timing/queue.h"

namespace trnsim::timing {

inline constexpr std::uint32_t kKept = ~std::uint32_t{0};

// For each instruction the earlier one whose result stands for its own, or kKept. Two make the same
// when they are the same operation on the same bytes, made by the same instructions; it is left out
// where the round before of the innermost loop around it made it. While it lives on, the result
// keeps its place, or takes what the kernel never uses of SBUF.
std::vector<std::uint32_t> stand_ins(const program::Program& program,
                                     const Dependencies& dependencies, const catalog::Core& core);

// For each instruction the queue that takes it: where the kernel leaves the engine open, Vector's
// or Scalar's, whichever has less to do so far.
std::vector<Queue> shared_out(const program::Program& program, const catalog::Core& core);

// What an instruction costs on the queue that takes it.
isa::Cost cost_on(const program::Program& program, std::size_t i, Queue queue,
                  const isa::CostModel& model);

}  // namespace trnsim::timing
