// Gives every instruction of a program, or of the programs of cores that run side by side, a start
// and an end, in whole picoseconds, without touching any data. Engines take their instructions in
// order; what an instruction waited for is written down with it, so that the critical path and the
// advice come from the clock and not from guesses. Not modelled yet: instruction fetch, semaphore
// limits.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "catalog/chip.h"
#include "isa/cost.h"
#include "program/program.h"
#include "timing/queue.h"
#include "timing/schedule.h"

namespace trnsim::timing {

// What the start of an instruction had to wait for last.
enum class Wait : std::uint8_t {
  kNothing,
  kEngine,   // its own queue was busy
  kData,     // an operand that another instruction produced, or an order the kernel asked for
  kReuse,    // memory that another instruction still read or wrote
  kPort,     // a port that two engines share
  kBarrier,  // another core, to come to the same barrier or exchange
};
inline constexpr int kWaitCount = 6;
std::string_view wait_name(Wait wait);

inline constexpr std::uint32_t kNobody = ~std::uint32_t{0};

struct Entry {
  Picoseconds start;
  Picoseconds busy_end;  // the queue is free for its next instruction
  Picoseconds end;       // results visible to others
  Picoseconds prelude;   // from start until the work itself: activation table load, DMA start
  Picoseconds
      served_from;  // transfers: when the last DMA engine to finish (or the HBM) began with it
  std::uint32_t served_after;  // the transfer which that engine was busy with until then; kNobody
                               // when it was idle
  std::uint32_t waited_for;    // instruction behind `wait`; kNobody where there is none
  std::uint8_t served_core;    // whose transfer `served_after` is
  std::uint8_t waited_core;    // whose instruction `waited_for` is
  Wait wait;
  Queue queue;
  bool left_out;  // its result is another one's, `waited_for`, and it takes no time
  bool by_hbm;    // transfers: the HBM's bandwidth, not the engines', decided the end
};

struct Timeline {
  std::vector<Entry> entries;  // one per instruction, in program order
  Picoseconds total;           // launch not included
  Picoseconds launch;          // fixed device time of an executable, reported beside it
  std::array<Picoseconds, kQueueCount> busy{};
  Picoseconds dma_busy;  // mean over the DMA engines
  Picoseconds table_loads;
  std::int64_t table_load_count = 0;
  std::int64_t flops = 0;      // of the Tensor Engine
  std::int64_t hbm_bytes = 0;  // read and written
  std::int64_t dma_bytes = 0;
  std::int64_t dma_elements = 0;  // contiguous pieces
  Scheduling scheduling = Scheduling::kProgram;
};

// What a question about a program changes in one of its instructions.
struct Revision {
  bool left_out = false;  // takes no time, and passes on what it waits for
  double fixed = 1;       // of a transfer: this part of what does not depend on its bytes counts
};

// Questions that no figure of the chip expresses. As they stand, the program is clocked as it is.
struct Options {
  // Without one, as usual for the program's dialect.
  std::optional<Scheduling> scheduling = std::nullopt;
  // Writes do not wait for earlier accesses to the same bytes, as if each had a buffer of its own.
  bool fresh_buffers = false;
  // A table set that was loaded once stays loaded.
  bool tables_stay = false;
  // May change the cost of an instruction, given by its core and its number. Empty: none changes.
  std::function<Revision(std::size_t core, std::uint32_t i, isa::Cost& cost)> revise = {};
};

Timeline clock(const program::Program& program, const catalog::Chip& chip,
               const Options& options = {});

// One timeline per core. The cores share the chip's HBM bandwidth, nothing else; the n-th meeting
// (isa::Meeting) of each is the same one, and begins when the last of them is ready for it.
std::vector<Timeline> clock(std::span<const program::Program* const> cores,
                            const catalog::Chip& chip, const Options& options = {});

}  // namespace trnsim::timing
