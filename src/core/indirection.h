// Tensor indirection, NkiTensor.indirect(): columns of a tile that an index in SBUF names, read or
// written by an engine. Offset i of the list is index[i % G, i / G], with G 32 for the Tensor
// Engine and 16 for the others, and holds for all partitions. The columns are put together in an
// area beside the memory, the instruction runs on them there, and what it wrote is put back.
// Source: NKI 0.6, NkiTensor.indirect and the instructions' sections "Tensor indirection".
#pragma once

#include "isa/field.h"

namespace trnsim::core {

inline constexpr int kIndirectSince = 4;  // NeuronCore generation
inline constexpr int kStagingAreas = 5;   // operands of nc_matmul_mx

}  // namespace trnsim::core
