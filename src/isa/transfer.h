// What DMA instructions share: which memories they reach, the copy itself, and the descriptors that
// it takes.
#pragma once

#include <vector>

#include "isa/cost.h"
#include "isa/rules.h"
#include "isa/state.h"

namespace trnsim::isa {

void check_dma_operand(const Rules& rules, const char* name, const Tile& tile);

// dst = src in element order; equal dtypes keep every bit, others go through fp32.
void transfer(CoreState& state, const Tile& dst, const Tile& src);

// A tile's elements in order, as fp32.
std::vector<float> read_floats(const CoreState& state, const Tile& tile);
void write_floats(CoreState& state, const Tile& tile, const std::vector<float>& values);

// Contiguous pieces and the engines that can share them.
DmaWork dma_work(const Tile& dst, const Tile& src);

// Who makes a transfer's descriptors when the kernel asks for `asked`. Left to the compiler,
// hardware does where it exists; it cannot convert or follow an index, which takes software.
DgeMode descriptors_of(const catalog::Core& core, DgeMode asked, bool indexed, bool converts);

// priority and descriptor generation, as far as they do not depend on the instruction.
void check_dma_modes(const Rules& rules, DgeMode dge_mode, const OptionalInt& priority, Dtype dst,
                     Dtype src);

}  // namespace trnsim::isa
