// DMA between HBM and SBUF (or within one of them), converting where the dtypes differ.
//
// With dst_index or src_index (not both) it scatters or gathers rows, their addresses computed on
// the way (indexed_rows.h): row p of the other side is moved to or from row index[p], p ascending,
// so of equal rows in a scatter the last stays. An index outside the rows raises, or with oob_mode
// skip leaves the destination of that row alone.
#include <algorithm>

#include "isa/indexed_rows.h"
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
  RowsByIndex by_index() const {
    if (!indexed()) return {};
    return {.index = &index(), .count = index().partitions(), .rows = {&rows_side()}};
  }
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
    if (dge_mode == DgeMode::kHardware || dge_mode == DgeMode::kNone) {
      rules.fail("index_dge",
                 "indexed rows need descriptors generated in software (dge_mode swdge or unknown)");
    }
    check_indexed_rows(rules, side, rows_side(), scatters() ? "src" : "dst", dense_side(), index());
  }

  void execute(CoreState& state) const {
    if (!indexed()) return transfer(state, dst, src);
    for_each_indexed_row(
        state, {"dma_copy", scatters() ? "dst" : "src", oob_mode}, rows_side(), index(),
        [&](std::int64_t at, std::int64_t row) {
          if (scatters()) return transfer(state, row_of(dst, row), row_of(src, at));
          state.memory.require_written(row_of(src, row), "src");
          transfer(state, row_of(dst, at), row_of(src, row));
        },
        [&](std::int64_t at) {  // what a skipped gather leaves in place must be there
          if (!scatters()) state.memory.require_written(row_of(dst, at), "dst (row skipped)");
        });
  }

  Cost cost(const CostModel& model) const {
    Cost cost;
    cost.dma = indexed() ? indexed_work(row_of(dst, 0), row_of(src, 0), index().partitions())
                         : dma_work(dst, src);
    cost.dma.descriptors =
        descriptors_of(model.core(), dge_mode, indexed(), dst.dtype != src.dtype);
    cost.dma.by_scalar = engine == Engine::kScalar;
    return cost;
  }
};

}  // namespace

InstructionType insn_dma_copy() { return describe<DmaCopy>(); }

}  // namespace trnsim::isa
