// Whether the tiles that live at one time fit into SBUF and PSUM, a tile living from the first to
// the last instruction that touches it. Needed only where placement let tiles give way to each
// other and one was used again: a compiler, which knows when each is needed last, might do better.
// Tiles of up to 32, 64 and 96 partitions can lie beside each other.
// Not modelled: gaps, which a real placement leaves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "memory/memory.h"
#include "program/program.h"

namespace trnsim::core {

// Where most of the memory is taken, if that is more than there is; `text` names the tiles.
struct Overflow {
  std::uint32_t site;
  std::string text;
};
std::optional<Overflow> overflow(const program::Program& program, const memory::Memory& memory,
                                 memory::Space space);

}  // namespace trnsim::core
