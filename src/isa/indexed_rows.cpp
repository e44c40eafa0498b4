#include "isa/indexed_rows.h"

#include <string>

#include "isa/transfer.h"

namespace trnsim::isa {

void check_indexed_rows(const Rules& rules, const char* side, const Tile& rows,
                        const char* dense_side, const Tile& dense, const Tile& index) {
  if (rows.on_chip()) {
    rules.fail("index_side", "{} is in {}; only a tensor in HBM can be indexed", side,
               memory::space_name(rows.space));
  }
  rules.operand("index", index, Buffers::kSbuf);
  if (!is_int32(index)) {
    rules.fail("index_dtype", "the index is {}; it must be int32 or uint32",
               numerics::info(index.dtype).name);
  }
  const std::int32_t n = index.partitions();
  if (index.free_elements() != 1 || dense.sizes[0] != n) {
    rules.fail("index_shape",
               "the index is {} x {}; it must have one element for each of the {} rows of {}", n,
               index.free_elements(), dense.sizes[0], dense_side);
  }
  const std::int64_t moved = dense.elements() / n, row = rows.elements() / rows.sizes[0];
  if (moved != row)
    rules.fail("elements", "a row of {} has {} elements, {} are moved for each", side, row, moved);
}

DmaWork indexed_work(const Tile& dst, const Tile& src, std::int32_t count) {
  DmaWork work = dma_work(dst, src);
  work.bytes *= count;
  work.hbm_read *= count;
  work.hbm_written *= count;
  work.elements *= count;
  work.lanes = count;
  return work;
}

void index_out_of_bounds(const IndexedTransfer& transfer, std::int64_t at, std::int64_t row,
                         std::int64_t rows) {
  program_error(std::string(transfer.instruction) + ".out_of_bounds",
                "{}: index[{}] is {}, but {} has rows 0 to {}; oob_mode skip would leave such rows "
                "out",
                transfer.instruction, at, row, transfer.side, rows - 1);
}

}  // namespace trnsim::isa
