// Where each of eight values stands in its partition. Slots that hold the same value take its
// occurrences one after another, in the order of the slots; a value that is not there (any more)
// gives an index of all ones.
#include <algorithm>

#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/rows.h"
#include "isa/top8.h"

namespace trnsim::isa {
namespace {

constexpr std::int64_t kAbsent = -1;

struct NcFindIndex8 {
  Tile dst, data, vals;

  static constexpr Info kInfo{
      .name = "nc_find_index8",
      .summary = "dst[p, i] = index of the first element of data[p] equal to vals[p, i]",
      .engines = "Vector",
      .cost = "max(MIN_II, N) cycles; + drain",
      .source = "NKI documentation 2.26, nki.isa.nc_find_index8"};
  static constexpr std::tuple kFields{out("dst", &NcFindIndex8::dst),
                                      in("data", &NcFindIndex8::data),
                                      in("vals", &NcFindIndex8::vals)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_searched(rules, "data", data);
    check_slots(rules, "vals", vals);
    check_slots(rules, "dst", dst);
    check_index_dtype(rules, "dst", dst);
    rules.same_partitions("data", data, "vals", vals);
    rules.same_partitions("data", data, "dst", dst);
  }

  void execute(CoreState& state) const {
    RowReader data_reader(state, 1, data), vals_reader(state, 2, vals);
    std::vector<std::int64_t> indices;
    for (int p = 0; p < data.partitions(); ++p) {
      const Rows x = data_reader.rows(p, 1), v = vals_reader.rows(p, 1);
      for (int slot = 0; slot < kSlots; ++slot) {
        std::int64_t from = 0;  // behind the occurrence that the last equal slot took
        for (int earlier = 0; earlier < slot; ++earlier) {
          if (v.row(0)[earlier] != v.row(0)[slot]) continue;
          const std::int64_t taken =
              indices[indices.size() - static_cast<std::size_t>(slot - earlier)];
          from = taken == kAbsent ? data.free_elements() : taken + 1;
        }
        const float* end = x.row(0) + x.size;
        const float* found = std::find(x.row(0) + from, end, v.row(0)[slot]);
        indices.push_back(found == end ? kAbsent : found - x.row(0));
      }
    }
    write_integers(state, dst, indices);
  }

  Cost cost(const CostModel& model) const {
    return model.vector(static_cast<double>(data.free_elements()) * model.stride_slowdown(data));
  }
};

}  // namespace

InstructionType insn_nc_find_index8() { return describe<NcFindIndex8>(); }

}  // namespace trnsim::isa
