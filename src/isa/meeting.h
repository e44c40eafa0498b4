// What an instruction asks of the other cores of a logical core: all of them come to the same
// point, and data may change hands there. Who waits, and for how long, is the business of core and
// timing.
#pragma once

#include <cstdint>

#include "isa/operand.h"

namespace trnsim::isa {

enum class MeetingKind : std::uint8_t { kBarrier, kExchange };

// The tiles lie in the instruction's arguments and live as long as those.
struct Meeting {
  MeetingKind kind;
  const Tile* data = nullptr;      // barrier: what it is about
  const Tile* sent = nullptr;      // exchange
  const Tile* received = nullptr;  // exchange
  int send_to = 0;                 // exchange: the rank of the other core
  int pipe = 0;
  DmaEngine mover = DmaEngine::kDma;
};

}  // namespace trnsim::isa
