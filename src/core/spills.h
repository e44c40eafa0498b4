// What the vendor's compiler does with a kernel whose tiles do not all fit into SBUF: some give way
// to others, and come back. What was loaded from an input is loaded again; the rest is written to
// HBM and read back. The tile that is needed again last gives way first, among those that were not
// used just before. All tiles are placed anew.
// Not modelled: a tile gives way as a whole, never a part of it; tiles of few partitions do not lie
// beside each other.
#pragma once

#include <cstdint>

#include "memory/memory.h"
#include "program/program.h"

namespace trnsim::core {

struct Spilled {
  program::Program program;            // with the transfers
  std::int64_t loaded_again = 0;       // bytes; net of loads that are made later
  std::int64_t written = 0, read = 0;  // bytes of what the kernel computed, to HBM and back
};

// The program of a core with this memory, which gives the spilled tiles their place in HBM.
// loads_by_need: loads are made in the order in which their tiles are needed, as when memory is
// short; otherwise where they stand.
Spilled spilled(const program::Program& program, memory::Memory& memory, bool loads_by_need);

}  // namespace trnsim::core
