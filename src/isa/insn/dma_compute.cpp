// The sum of up to 16 tensors by DMA: each element converted to fp32, added in the order of srcs
// and converted to dst's dtype.
//
// With index it reads, adds and writes rows whose addresses are computed on the way. srcs[0] then
// spans every row that may be touched, as in dma_copy, and the index tile is [n, 1] in SBUF:
// - scatter: dst in HBM is srcs[0] too; dst[index[p]] += srcs[1][p], p ascending;
// - gather: dst in SBUF is srcs[1] too; dst[p] += srcs[0][index[p]].
// An index outside the rows raises, or with oob_mode skip leaves the destination of that row alone.
#include <vector>

#include "isa/indexed_rows.h"
#include "isa/instruction.h"
#include "isa/slices.h"
#include "isa/transfer.h"

namespace trnsim::isa {
namespace {

struct DmaCompute {
  Tile dst;
  TileList srcs;
  AluOp reduce_op = AluOp::kAdd;
  NumberList scales;
  bool unique_indices = true;
  OobMode oob_mode = OobMode::kError;
  Tile index;

  static constexpr Info kInfo{
      .name = "dma_compute",
      .summary = "dst = sum of srcs in fp32, by DMA; or += of rows gathered or scattered by index",
      .engines = "DMA",
      .cost =
          "as a dma_copy of each source, at the fraction of its rate that accumulates (no "
          "public figure per call)",
      .source = "NKI documentation, nki.isa.dma_compute; Trainium3 guide, read-add-write"};
  static constexpr std::tuple kFields{out("dst", &DmaCompute::dst),
                                      in_part("srcs", &DmaCompute::srcs),
                                      arg("reduce_op", &DmaCompute::reduce_op),
                                      opt("scales", &DmaCompute::scales),
                                      opt("unique_indices", &DmaCompute::unique_indices),
                                      opt("oob_mode", &DmaCompute::oob_mode),
                                      opt_in("index", &DmaCompute::index)};

  Engine engine_on(int) const { return Engine::kDma; }
  bool indexed() const { return index.present(); }
  bool scatters() const { return !dst.on_chip(); }  // of the indexed forms
  RowsByIndex by_index() const {
    if (!indexed()) return {};
    return {.index = &index,
            .count = index.partitions(),
            .rows = {&rows(), scatters() ? &dst : nullptr}};
  }
  const Tile& rows() const { return srcs.tiles[0]; }
  const Tile& other() const { return srcs.tiles[1]; }

  void check(const Rules& rules) const {
    check_dma_operand(rules, "dst", dst);
    for (std::int32_t i = 0; i < srcs.size; ++i) check_source(rules, srcs.tiles[i]);
    if (srcs.size == 0) rules.fail("sources", "srcs is empty; it takes 1 to {}", TileList::kMax);
    if (numerics::info(dst.dtype).packed > 1)
      rules.fail("mx_dtype", "MX types cannot be added by DMA (dst is {})",
                 numerics::info(dst.dtype).name);
    if (reduce_op != AluOp::kAdd)
      rules.fail("reduce_op", "reduce_op is {}; DMA adds only", numerics::name(reduce_op));
    check_scales(rules);
    if (indexed()) return check_indexed(rules);
    for (std::int32_t i = 0; i < srcs.size; ++i) {
      const Tile& src = srcs.tiles[i];
      if (src.elements() != dst.elements()) {
        rules.fail("elements", "srcs[{}] has {} elements and dst has {}; they must be equal", i,
                   src.elements(), dst.elements());
      }
      rules.memory().require_written(src, "srcs");
    }
  }

  static void check_source(const Rules& rules, const Tile& src) {
    check_dma_operand(rules, "srcs", src);
    if (numerics::info(src.dtype).packed > 1)
      rules.fail("mx_dtype", "MX types cannot be added by DMA (a source is {})",
                 numerics::info(src.dtype).name);
  }

  void check_scales(const Rules& rules) const {
    if (scales.size != 0 && scales.size != srcs.size)
      rules.fail("scales", "{} scales are given for {} sources", scales.size, srcs.size);
    for (std::int32_t i = 0; i < scales.size; ++i) {
      if (scales.values[i] != 1.0)
        rules.fail("scales", "scales[{}] is {}; every scale must be 1.0", i, scales.values[i]);
    }
  }

  void check_indexed(const Rules& rules) const {
    if (srcs.size != 2)
      rules.fail("sources", "{} sources are given; read-modify-write takes 2", srcs.size);
    if (!unique_indices)
      rules.fail("unique_indices", "unique_indices is False; the DMA engines need distinct rows");
    const Tile& same = scatters() ? rows() : other();
    if (!same_bytes(same, dst)) {
      rules.fail("read_modify_write", "no source is dst {}; one of the two must be",
                 scatters() ? "at the same rows" : "itself");
    }
    check_indexed_rows(rules, "srcs", rows(), "dst or its addend", scatters() ? other() : dst,
                       index);
    rules.memory().require_written(other(), "srcs");
  }

  static bool same_bytes(const Tile& a, const Tile& b) {
    return a.tensor == b.tensor && a.offset == b.offset && a.start_partition == b.start_partition &&
           a.elements() == b.elements() && a.dtype == b.dtype;
  }

  void execute(CoreState& state) const {
    if (!indexed()) return sum(state, dst, srcs.tiles.data(), srcs.size);
    for_each_indexed_row(
        state, {"dma_compute", scatters() ? "dst" : "srcs", oob_mode}, rows(), index,
        [&](std::int64_t at, std::int64_t row) {
          const Tile far = row_of(rows(), row), near = row_of(other(), at);
          state.memory.require_written(far, "srcs");
          const Tile terms[2]{far, near};
          sum(state, scatters() ? far : near, terms, 2);
        },
        [](std::int64_t) {});  // what is skipped was read, so it is there
  }

  static void sum(CoreState& state, const Tile& to, const Tile* terms, std::int32_t count) {
    std::vector<float> total = read_floats(state, terms[0]);
    for (std::int32_t i = 1; i < count; ++i) {
      const std::vector<float> term = read_floats(state, terms[i]);
      for (std::size_t k = 0; k < total.size(); ++k) total[k] += term[k];
    }
    write_floats(state, to, total);
  }

  Cost cost(const CostModel&) const {
    Cost cost;
    DmaWork& work = cost.dma;
    if (indexed()) {
      // Each row twice: what is read on the way, and what is added.
      work = indexed_work(row_of(dst, 0), row_of(scatters() ? other() : rows(), 0),
                          index.partitions());
      work.bytes *= 2;
      work.elements *= 2;
      if (scatters()) work.hbm_read = work.hbm_written;
      work.descriptors = DgeMode::kSoftware;
    } else {
      for (std::int32_t i = 0; i < srcs.size; ++i) work.add(dma_work(dst, srcs.tiles[i]));
      work.hbm_written = dst.on_chip() ? 0 : dst.bytes();  // the sum once, whatever it is made of
    }
    work.accumulates = true;
    return cost;
  }
};

}  // namespace

InstructionType insn_dma_compute() { return describe<DmaCompute>(); }

}  // namespace trnsim::isa
