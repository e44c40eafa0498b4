// DMA whose row addresses come from an index tile. One side, in HBM, spans every row that may be
// touched: sizes[0] rows exist, strides[0] bytes apart, the other dimensions are one row. The index
// is [n, 1] int32 or uint32 in SBUF; dimension 0 of the other side has size n.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "isa/bits.h"
#include "isa/cost.h"
#include "isa/rules.h"
#include "isa/state.h"

namespace trnsim::isa {

void check_indexed_rows(const Rules& rules, const char* side, const Tile& rows,
                        const char* dense_side, const Tile& dense, const Tile& index);

// The transfers of `count` rows, of which one goes from `src` to `dst`.
DmaWork indexed_work(const Tile& dst, const Tile& src, std::int32_t count);

struct IndexedTransfer {
  std::string_view instruction, side;
  OobMode oob_mode;
};

[[noreturn]] void index_out_of_bounds(const IndexedTransfer& transfer, std::int64_t at,
                                      std::int64_t row, std::int64_t rows);

// Calls move(place, row) for each index in order; skipped(place) for one outside the rows, where
// oob_mode lets it pass.
template <class Move, class Skipped>
void for_each_indexed_row(const CoreState& state, const IndexedTransfer& transfer, const Tile& rows,
                          const Tile& index, Move&& move, Skipped&& skipped) {
  const std::vector<std::int64_t> chosen = read_integers(state, index);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (chosen[i] >= 0 && chosen[i] < rows.sizes[0]) {
      move(at, chosen[i]);
    } else if (transfer.oob_mode == OobMode::kSkip) {
      skipped(at);
    } else {
      index_out_of_bounds(transfer, at, chosen[i], rows.sizes[0]);
    }
  }
}

}  // namespace trnsim::isa
