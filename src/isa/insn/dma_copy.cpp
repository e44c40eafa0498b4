// DMA between HBM and SBUF (or within one of them), converting where the dtypes differ.
//
// With dst_index or src_index (not both) it scatters or gathers rows, their addresses computed on
// the way. Then
// - the indexed side is in HBM and its tile spans every row that may be touched: sizes[0] is the
// number of rows that
//   exist, strides[0] the bytes from row to row, the other dimensions are one row;
// - the index tile is [n, 1] int32 or uint32 in SBUF; dimension 0 of the other side has size n;
// - row p of the other side is moved to or from row index[p], p ascending: of equal rows in a
// scatter the last stays;
// - an index outside the rows raises, or with oob_mode skip leaves the destination of that row
// alone.
#include <algorithm>

#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/slices.h"
#include "isa/transfer.h"

namespace trnsim::isa {
namespace {

struct DmaCopy {
  Tile dst, src;
  OobMode oob_mode = OobMode::kError;
  DgeMode dge_mode = DgeMode::kUnknown;
  Engine engine = Engine::kUnknown;
  OptionalInt priority;
  Tile dst_index, src_index;

  static constexpr Info kInfo{
      .name = "dma_copy",
      .summary = "dst = src by DMA, converted to dst's dtype; rows gathered or scattered by index",
      .engines = "DMA",
      .cost =
          "start latency + per DMA engine: sum over descriptors of fixed + bytes / rate; + "
          "completion",
      .source = "NKI documentation, nki.isa.dma_copy; NKI DMA overview and bandwidth guide"};
  static constexpr std::tuple kFields{out("dst", &DmaCopy::dst),
                                      in_part("src", &DmaCopy::src),
                                      opt("priority", &DmaCopy::priority),
                                      opt("oob_mode", &DmaCopy::oob_mode),
                                      opt("dge_mode", &DmaCopy::dge_mode),
                                      opt("engine", &DmaCopy::engine),
                                      opt_in("dst_index", &DmaCopy::dst_index),
                                      opt_in("src_index", &DmaCopy::src_index)};

  bool scatters() const { return dst_index.present(); }
  bool indexed() const { return dst_index.present() || src_index.present(); }
  const Tile& index() const { return scatters() ? dst_index : src_index; }
  const Tile& rows_side() const { return scatters() ? dst : src; }
  const Tile& dense_side() const { return scatters() ? src : dst; }

  Engine engine_on(int) const { return Engine::kDma; }

  void check(const Rules& rules) const {
    check_dma_operand(rules, "dst", dst);
    check_dma_operand(rules, "src", src);
    if (indexed()) {
      check_index(rules);
    } else if (dst.elements() != src.elements()) {
      rules.fail("elements", "dst has {} elements and src has {}; they must be equal",
                 dst.elements(), src.elements());
    }
    // A gather reads only the rows that it is told to, which are known when it runs.
    if (!src_index.present()) rules.memory().require_written(src, "src");
    check_dma_modes(rules, dge_mode, priority, dst.dtype, src.dtype);
    check_engine(rules);
    if (dst.dtype != src.dtype &&
        (numerics::info(dst.dtype).packed > 1 || numerics::info(src.dtype).packed > 1)) {
      rules.fail("mx_dtype", "MX types cannot be converted by DMA ({} to {})",
                 numerics::info(src.dtype).name, numerics::info(dst.dtype).name);
    }
  }

  void check_engine(const Rules& rules) const {
    if (engine == Engine::kUnknown) return;
    if (engine != Engine::kSync && engine != Engine::kScalar) {
      rules.fail("engine", "triggered by the Sync or Scalar engine, not by {}",
                 engine_name(engine));
    }
    if (dge_mode == DgeMode::kSoftware || dge_mode == DgeMode::kNone) {
      rules.fail("engine",
                 "the triggering engine can be chosen only with dge_mode hwdge (or unknown)");
    }
  }

  void check_index(const Rules& rules) const {
    if (dst_index.present() && src_index.present()) {
      rules.fail("both_indexed",
                 "dst_index and src_index are both given; only one side can be indexed");
    }
    const char* side = scatters() ? "dst" : "src";
    if (rows_side().on_chip()) {
      rules.fail("index_side", "{} is in {}; only a tensor in HBM can be indexed", side,
                 memory::space_name(rows_side().space));
    }
    if (dge_mode == DgeMode::kHardware || dge_mode == DgeMode::kNone) {
      rules.fail("index_dge",
                 "indexed rows need descriptors generated in software (dge_mode swdge or unknown)");
    }
    rules.operand("index", index(), Buffers::kSbuf);
    if (!is_int32(index())) {
      rules.fail("index_dtype", "the index is {}; it must be int32 or uint32",
                 numerics::info(index().dtype).name);
    }
    const std::int32_t n = index().partitions();
    if (index().free_elements() != 1 || dense_side().sizes[0] != n) {
      rules.fail("index_shape",
                 "the index is {} x {}; it must have one element for each of the {} rows moved", n,
                 index().free_elements(), dense_side().sizes[0]);
    }
    const std::int64_t moved = dense_side().elements() / n,
                       row = rows_side().elements() / rows_side().sizes[0];
    if (moved != row)
      rules.fail("elements", "a row of {} has {} elements, {} are moved for each", side, row,
                 moved);
  }

  void execute(CoreState& state) const {
    if (!indexed()) return transfer(state, dst, src);
    const std::vector<std::int64_t> rows = read_integers(state, index());
    for (std::size_t p = 0; p < rows.size(); ++p) {
      const auto at = static_cast<std::int64_t>(p);
      const bool exists = rows[p] >= 0 && rows[p] < rows_side().sizes[0];
      if (!exists) {
        out_of_range(state, at, rows[p]);
      } else if (scatters()) {
        transfer(state, row_of(dst, rows[p]), row_of(src, at));
      } else {
        transfer(state, row_of(dst, at), row_of(src, rows[p]));
      }
    }
  }

  void out_of_range(const CoreState& state, std::int64_t at, std::int64_t row) const {
    if (oob_mode == OobMode::kError) {
      program_error("dma_copy.out_of_bounds",
                    "dma_copy: index[{}] is {}, but {} has rows 0 to {}; oob_mode skip would leave "
                    "such rows out",
                    at, row, scatters() ? "dst" : "src", rows_side().sizes[0] - 1);
    }
    // What a skipped gather leaves in place must be there.
    if (!scatters()) state.memory.require_written(row_of(dst, at), "dst (row skipped)");
  }

  Cost cost(const CostModel&) const {
    Cost cost;
    cost.dma = indexed() ? indexed_work() : dma_work(dst, src);
    cost.dma.software_descriptors = indexed() || dge_mode == DgeMode::kSoftware;
    cost.dma.hardware_descriptors = dge_mode == DgeMode::kHardware;
    return cost;
  }

  DmaWork indexed_work() const {
    DmaWork work = dma_work(row_of(dst, 0), row_of(src, 0));
    const std::int32_t n = index().partitions();
    work.bytes *= n;
    work.elements *= n;
    work.lanes = n;
    return work;
  }
};

}  // namespace

InstructionType insn_dma_copy() { return describe<DmaCopy>(); }

}  // namespace trnsim::isa
