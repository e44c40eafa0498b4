// Changes that the author of a kernel could make, as questions to the clock: what the instructions
// would cost, or which of them would be there, in the better kernel.
#pragma once

#include "report/question.h"

namespace trnsim::report {

// Each DMA piece is a partition's whole share of the transfer, and nothing is transposed.
void make_transfers_contiguous(Question& question);
// Transfers of one line are gathered until each partition's share is as long as saturates the
// engines.
void gather_transfers(Question& question);
// What was loaded once, and does not change, stays in SBUF as long as there is room.
void keep_loaded_tiles(Question& question);
// Tiles leave PSUM through the engine.
void evict_on(Question& question, isa::Engine engine);
// Between two meetings each core has the mean of all cores' work.
void share_work_evenly(Question& question);

}  // namespace trnsim::report
