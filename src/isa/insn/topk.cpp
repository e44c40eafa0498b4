// The K largest elements of each group of 16 partitions, ascending, and their places. A group is
// one list that runs across the partitions first: element i is in partition i % 16, column i / 16.
// So are the results (published kernels read them so): K of them fill the first ceil(K / 16)
// columns; the rest of val_dst and idx_dst keeps what it holds, but counts as written. Of equal
// elements the first are taken, the later of them placed first; NaN is the largest.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/slices.h"
#include "numerics/convert.h"

namespace trnsim::isa {
namespace {

constexpr std::int64_t kElementsMin = 8, kElementsEnd = 65536, kResultsEnd = 32768;

struct Topk {
  Tile val_dst, idx_dst, src;
  std::int32_t n = 0;

  static constexpr Info kInfo{
      .name = "topk",
      .summary = "val_dst, idx_dst = the K largest of n elements of each 16 partitions, ascending",
      .engines = "GpSimd",
      .cost = "4 n + K cycles; + drain",
      .source = "NKI documentation, nki.isa.topk; layout of the results: nki-library, gpsimd_topk",
      .since = 2};
  static constexpr std::tuple kFields{out("val_dst", &Topk::val_dst),
                                      out("idx_dst", &Topk::idx_dst), in_part("src", &Topk::src),
                                      arg("n", &Topk::n)};

  Engine engine_on(int) const { return Engine::kGpsimd; }
  std::int64_t k() const { return val_dst.free_elements(); }

  void check(const Rules& rules) const {
    for (const auto& [name, tile, dtype] : {std::tuple{"val_dst", &val_dst, Dtype::kBfloat16},
                                            {"idx_dst", &idx_dst, Dtype::kUint32},
                                            {"src", &src, Dtype::kBfloat16}}) {
      rules.operand(name, *tile, Buffers::kSbuf);
      if (tile->dtype != dtype) {
        rules.fail("dtype", "{} is {}; it must be {}", name, numerics::info(tile->dtype).name,
                   numerics::info(dtype).name);
      }
      if (tile->dims != 2)
        rules.fail("rank", "{} has {} dimensions; it must have 2", name, int{tile->dims});
    }
    rules.same_partitions("val_dst", val_dst, "src", src);
    rules.same_partitions("idx_dst", idx_dst, "src", src);
    rules.same_free_size("idx_dst", idx_dst, "val_dst", val_dst);
    if (src.partitions() % kProcessorPartitions != 0) {
      rules.fail("groups", "src has {} partitions; it must have a multiple of {}", src.partitions(),
                 kProcessorPartitions);
    }
    if (n < kElementsMin || n >= kElementsEnd)
      rules.fail("n", "n is {}; it must be {} to {}", n, kElementsMin, kElementsEnd - 1);
    if (k() >= kResultsEnd || k() > n)
      rules.fail("k", "val_dst takes {} results; there can be {}", k(),
                 std::min<std::int64_t>(n, kResultsEnd - 1));
    if (n > src.free_elements() * kProcessorPartitions) {
      rules.fail("src_size", "n is {}, but {} partitions of {} elements hold {}", n,
                 kProcessorPartitions, src.free_elements(),
                 src.free_elements() * kProcessorPartitions);
    }
    for (int first = 0; first < src.partitions(); first += kProcessorPartitions) {
      for_each_part(src, first, n,
                    [&](const Tile& part) { rules.memory().require_written(part, "src"); });
    }
  }

  // The list of `count` elements in the group from partition `first`: its full columns, then what
  // is left in the next one.
  template <class Fn>
  static void for_each_part(const Tile& tile, int first, std::int64_t count, Fn&& fn) {
    const auto columns = static_cast<std::int32_t>(count / kProcessorPartitions),
               rest = static_cast<std::int32_t>(count % kProcessorPartitions);
    if (columns > 0) {
      Tile full = rows_of(tile, first, kProcessorPartitions);
      full.sizes[1] = columns;
      fn(full);
    }
    if (rest > 0) {
      Tile last = rows_of(tile, first, rest);
      last.offset += columns * tile.strides[1];
      last.sizes[1] = 1;
      fn(last);
    }
  }

  void execute(CoreState& state) const {
    for (int first = 0; first < src.partitions(); first += kProcessorPartitions) {
      const std::vector<std::int64_t> bits = read_list(state, first);
      const std::vector<std::int64_t> places = largest(bits);
      std::vector<std::int64_t> values(places.size());
      for (std::size_t i = 0; i < places.size(); ++i) values[i] = bits[places[i]];
      write_list(state, val_dst, first, values);
      write_list(state, idx_dst, first, places);
    }
  }

  std::vector<std::int64_t> read_list(const CoreState& state, int first) const {
    std::vector<std::int64_t> list(static_cast<std::size_t>(n));
    std::int64_t start = 0;
    for_each_part(src, first, n, [&](const Tile& part) {
      const std::vector<std::int64_t> rows = read_integers(state, part);
      const std::int64_t columns = part.sizes[1];
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        list[start + at % columns * kProcessorPartitions + at / columns] = rows[i];
      }
      start += columns * kProcessorPartitions;
    });
    return list;
  }

  static void write_list(CoreState& state, const Tile& tile, int first,
                         const std::vector<std::int64_t>& list) {
    std::int64_t start = 0;
    for_each_part(tile, first, static_cast<std::int64_t>(list.size()), [&](const Tile& part) {
      const std::int64_t columns = part.sizes[1];
      std::vector<std::int64_t> rows(static_cast<std::size_t>(part.elements()));
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        rows[i] = list[start + at % columns * kProcessorPartitions + at / columns];
      }
      write_integers(state, part, rows);
      start += columns * kProcessorPartitions;
    });
  }

  // The places of the k largest of a list of bf16 bit patterns, ascending by value.
  std::vector<std::int64_t> largest(const std::vector<std::int64_t>& bits) const {
    std::vector<float> values(bits.size());
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const auto stored = static_cast<std::uint16_t>(bits[i]);
      numerics::to_float(Dtype::kBfloat16, reinterpret_cast<const std::byte*>(&stored), 2,
                         &values[i], 1);
    }
    std::vector<std::int64_t> places(bits.size());
    std::iota(places.begin(), places.end(), 0);
    const auto before = [&](std::int64_t a, std::int64_t b) {
      const bool a_nan = std::isnan(values[a]), b_nan = std::isnan(values[b]);
      if (a_nan != b_nan) return a_nan;
      if (!a_nan && values[a] != values[b]) return values[a] > values[b];
      return a < b;
    };
    std::partial_sort(places.begin(), places.begin() + k(), places.end(), before);
    places.resize(static_cast<std::size_t>(k()));
    std::reverse(places.begin(), places.end());
    return places;
  }

  Cost cost(const CostModel& model) const {
    const catalog::GpsimdEngine& gpsimd = *model.core().gpsimd;
    const double cycles =
        gpsimd.topk_cycles * n + gpsimd.cycles_per_element * static_cast<double>(k());
    return model.gpsimd(cycles - gpsimd.start_cycles);  // the published figure is the whole
  }
};

}  // namespace

InstructionType insn_topk() { return describe<Topk>(); }

}  // namespace trnsim::isa
