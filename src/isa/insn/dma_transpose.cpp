// Transpose by DMA: dst.shape is src.shape permuted by (1, 0), (2, 1, 0) or (3, 1, 2, 0), bits
// unchanged.
//
// With src_index the outermost dimension of src is gathered first. Then src is in HBM and spans
// every row that may be read, src_index is [P, K] uint32 in SBUF, and row i of what is transposed
// is src[index[i % P, i / P]] for as many rows as the last dimension of dst has. An index outside
// src raises, or with oob_mode skip leaves that column of dst.
#include <algorithm>
#include <array>
#include <vector>

#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/slices.h"
#include "isa/transfer.h"
#include "memory/stretch.h"
#include "numerics/convert.h"

namespace trnsim::isa {
namespace {

constexpr int kRowsMultiple = 16;  // a hardware transpose works on blocks of 16 rows
constexpr std::int32_t kColumnsMax = 128;

struct DmaTranspose {
  Tile dst, src;
  IntList axes;
  OptionalInt priority;
  DgeMode dge_mode = DgeMode::kUnknown;
  OobMode oob_mode = OobMode::kError;
  Tile src_index;

  static constexpr Info kInfo{
      .name = "dma_transpose",
      .summary = "dst = src with its outermost and innermost dimensions exchanged, by DMA",
      .engines = "DMA",
      .cost = "as dma_copy, at a fraction of its rate: one for HBM, one for SBUF sources",
      .source = "NKI documentation, nki.isa.dma_transpose; Trainium2 guide, DMA transpose"};
  static constexpr std::tuple kFields{out("dst", &DmaTranspose::dst),
                                      in("src", &DmaTranspose::src),
                                      opt("axes", &DmaTranspose::axes),
                                      opt("priority", &DmaTranspose::priority),
                                      opt("dge_mode", &DmaTranspose::dge_mode),
                                      opt("oob_mode", &DmaTranspose::oob_mode),
                                      opt_in("src_index", &DmaTranspose::src_index)};

  Engine engine_on(int) const { return Engine::kDma; }

  bool indexed() const { return src_index.present(); }
  int rank() const { return src.dims; }
  RowsByIndex by_index() const {
    if (!indexed()) return {};
    return {.index = &src_index, .count = rows(), .rows = {&src}};
  }
  std::int64_t rows() const { return indexed() ? dst.sizes[dst.dims - 1] : src.sizes[0]; }
  std::int32_t columns() const { return src.sizes[rank() - 1]; }

  // (1, 0), (2, 1, 0), (3, 1, 2, 0)
  int axis(int i) const { return i == 0 ? rank() - 1 : i == rank() - 1 ? 0 : rank() == 3 ? 1 : i; }

  void check(const Rules& rules) const {
    check_dma_operand(rules, "dst", dst);
    check_dma_operand(rules, "src", src);
    rules.same_dtype("dst", dst, "src", src);
    if (src.element_bytes() != 2 && src.element_bytes() != 4) {
      rules.fail("dtype", "src is {}; DMA transposes elements of 2 or 4 bytes",
                 numerics::info(src.dtype).name);
    }
    if (rank() < 2 || rank() > 4)
      rules.fail("rank", "src has {} dimensions; it must have 2 to 4", rank());
    check_axes(rules);
    if (indexed()) check_index(rules);
    check_shape(rules);
    check_dma_modes(rules, dge_mode, priority, dst.dtype, src.dtype);
    if (dge_mode == DgeMode::kHardware) check_hardware_descriptors(rules);
    if (dge_mode == DgeMode::kSoftware && !indexed()) {
      rules.fail("swdge",
                 "descriptors are generated in software only for gathered rows (an indexed src); "
                 "use dge_mode hwdge, none or unknown");
    }
    if (oob_mode == OobMode::kSkip && !indexed()) {
      rules.fail("oob_mode", "oob_mode skip needs an indexed src");
    }
  }

  void check_axes(const Rules& rules) const {
    if (axes.size == 0) return;
    bool same = axes.size == rank();
    for (int i = 0; same && i < rank(); ++i) same = axes.values[i] == axis(i);
    if (!same) {
      rules.fail("axes",
                 "axes of {} entries do not exchange the first and last of {} dimensions; the "
                 "permutations are "
                 "(1, 0), (2, 1, 0) and (3, 1, 2, 0)",
                 axes.size, rank());
    }
  }

  void check_shape(const Rules& rules) const {
    bool same = dst.dims == rank();
    for (int i = 0; same && i < rank(); ++i) {
      same = dst.sizes[i] == (axis(i) == 0 ? rows() : src.sizes[axis(i)]);
    }
    if (!same) {
      rules.fail("dst_shape",
                 "dst has {} dimensions, the first {} and the last {}; the transpose of src has "
                 "{}, {} and {}",
                 dst.dims, dst.sizes[0], dst.sizes[dst.dims - 1], rank(), columns(), rows());
    }
  }

  void check_hardware_descriptors(const Rules& rules) const {
    if (src.element_bytes() != 2) {
      rules.fail("hwdge_dtype",
                 "hardware descriptor generation transposes elements of 2 bytes; src is {}",
                 numerics::info(src.dtype).name);
    }
    const std::int32_t r = src.sizes[0];
    if (rank() == 2 && r != kRowsMultiple) {
      rules.fail("hwdge_shape", "hardware descriptor generation transposes {} rows; src has {}",
                 kRowsMultiple, r);
    }
    if (rank() > 2) {
      const bool divides = r <= kRowsMultiple && kRowsMultiple % r == 0;
      if (!divides || r * src.sizes[rank() - 2] % kRowsMultiple != 0) {
        rules.fail("hwdge_shape",
                   "hardware descriptor generation needs shape[0] 1, 2, 4, 8 or 16 and shape[0] * "
                   "shape[-2] "
                   "a multiple of {}; src has {} and {}",
                   kRowsMultiple, r, src.sizes[rank() - 2]);
      }
    }
    if (columns() > kColumnsMax) {
      rules.fail("hwdge_shape",
                 "hardware descriptor generation takes a last dimension of at most {}; src has {}",
                 kColumnsMax, columns());
    }
  }

  void check_index(const Rules& rules) const {
    rules.generation_at_least(3, "a transpose of gathered rows");
    if (src.on_chip())
      rules.fail("index_side", "src is in SBUF; only a tensor in HBM can be indexed");
    if (dge_mode == DgeMode::kHardware || dge_mode == DgeMode::kNone) {
      rules.fail("index_dge",
                 "indexed rows need descriptors generated in software (dge_mode swdge or unknown)");
    }
    if (src.element_bytes() != 2) {
      rules.fail("index_src", "gathered rows must have elements of 2 bytes; src is {}",
                 numerics::info(src.dtype).name);
    }
    if (columns() > kColumnsMax || rows() % kRowsMultiple != 0) {
      rules.fail("index_src",
                 "gathered rows: the last dimension is {}, at most {}; their number is {}, a "
                 "multiple of {}",
                 columns(), kColumnsMax, rows(), kRowsMultiple);
    }
    if (rank() == 4 && src.sizes[1] != 1 && src.sizes[2] != 1) {
      rules.fail("index_src",
                 "gathered rows of 4 dimensions: dimension 1 or 2 must have size 1, not {} and {}",
                 src.sizes[1], src.sizes[2]);
    }
    rules.operand("src_index", src_index, Buffers::kSbuf);
    if (src_index.dtype != Dtype::kUint32) {
      rules.fail("index_dtype", "src_index is {}; it must be uint32",
                 numerics::info(src_index.dtype).name);
    }
    const int p = src_index.partitions();
    if (src_index.dims != 2 || p % kRowsMultiple != 0 ||
        (src_index.sizes[1] > 1 && p != kColumnsMax) || src_index.elements() < rows()) {
      rules.fail("index_shape",
                 "src_index of {} x {} must have 16 to 128 partitions, a multiple of 16 (128 if it "
                 "has several "
                 "columns), and at least {} elements",
                 p, src_index.free_elements(), rows());
    }
  }

  // Which row of src each row of the transposed data is; -1 for one to skip.
  std::vector<std::int64_t> source_rows(const CoreState& state) const {
    std::vector<std::int64_t> source(static_cast<std::size_t>(rows()));
    if (!indexed()) {
      for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::int64_t>(i);
      return source;
    }
    const std::vector<std::int64_t> indices = read_integers(state, src_index);
    const auto p = static_cast<std::size_t>(src_index.partitions()), k = indices.size() / p;
    for (std::size_t i = 0; i < source.size(); ++i) {
      source[i] = indices[i % p * k + i / p];
      if (source[i] < src.sizes[0]) continue;
      if (oob_mode == OobMode::kError) {
        program_error("dma_transpose.out_of_bounds",
                      "dma_transpose: index {} is {}, but src has rows 0 to {}", i, source[i],
                      src.sizes[0] - 1);
      }
      source[i] = -1;
    }
    return source;
  }

  void execute(CoreState& state) const {
    const std::vector<std::int64_t> source = source_rows(state);
    const int bytes = src.element_bytes();
    const auto n = static_cast<std::size_t>(columns());
    const std::int64_t row_bytes = src.bytes() / src.sizes[0],
                       lines = row_bytes / bytes / columns();
    // dst in element order is [columns][lines][rows]: element (c, l, r) comes from (r, l, c) of
    // src.
    const std::ptrdiff_t line_pitch = static_cast<std::ptrdiff_t>(source.size()) * bytes;
    std::vector<std::byte> row(static_cast<std::size_t>(row_bytes)),
        result(static_cast<std::size_t>(dst.bytes()));
    if (std::find(source.begin(), source.end(), -1) != source.end()) {
      state.memory.require_written(dst, "dst (rows skipped)");
      memory::gather(state.memory, dst, result.data());
    }
    for (std::size_t r = 0; r < source.size(); ++r) {
      if (source[r] < 0) continue;
      memory::gather(state.memory, row_of(src, source[r]), row.data());
      for (std::int64_t line = 0; line < lines; ++line) {
        numerics::copy_elements(
            bytes, row.data() + line * columns() * bytes, bytes,
            result.data() + line * line_pitch + static_cast<std::ptrdiff_t>(r) * bytes,
            line_pitch * lines, n);
      }
    }
    memory::scatter(state.memory, dst, result.data());
  }

  Cost cost(const CostModel& model) const {
    Cost cost;
    cost.dma = dma_work(dst, indexed() ? rows_of(src, 0, static_cast<std::int32_t>(rows())) : src);
    cost.dma.transpose = true;
    // The compiler's own choice for a transpose is not public; taken are prebuilt descriptors.
    const DgeMode asked = dge_mode == DgeMode::kUnknown ? DgeMode::kNone : dge_mode;
    cost.dma.descriptors = descriptors_of(model.core(), asked, indexed(), false);
    return cost;
  }
};

}  // namespace

InstructionType insn_dma_transpose() { return describe<DmaTranspose>(); }

}  // namespace trnsim::isa
