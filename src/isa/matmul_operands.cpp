#include "isa/matmul_operands.h"

#include <cstring>

#include "isa/bits.h"
#include "isa/rows.h"
#include "numerics/convert.h"
#include "numerics/matmul.h"

namespace trnsim::isa {
namespace {

Tile one_element(const Tile& tile, int row, std::int64_t offset) {
  Tile element = tile;
  element.start_partition = static_cast<std::uint16_t>(tile.start_partition + row);
  element.offset = tile.offset + offset;
  element.dims = 2;
  element.sizes = {1, 1};
  element.strides = {0, tile.element_bytes()};
  return element;
}

// Element by element, where part of the destination belongs to an accumulation group and part does
// not.
void add_where_accumulated(CoreState& state, const Tile& dst, const std::vector<float>& product) {
  const memory::Walk walk = memory::walk_of(dst);
  const float* next = product.data();
  for (int row = 0; row < dst.partitions(); ++row) {
    memory::for_each_run(walk, 0, [&](std::int64_t start) {
      for (std::int64_t i = 0; i < walk.inner_size(); ++i) {
        const Tile element = one_element(dst, row, start + i * walk.inner_stride());
        float value = *next++;
        if (state.memory.accumulated_by_itself(element) == memory::Share::kAll) {
          float old = 0;
          numerics::to_float(dst.dtype, state.memory.data(element), 0, &old, 1);
          value = old + value;
        }
        numerics::from_float(dst.dtype, &value, state.memory.data(element), 0, 1);
      }
    });
  }
}

// The sum over k of stationary[k, m] * moving[k, n]. Operands that the array's kernel can decode as
// it goes are left where they are; others are gathered into rows of fp32 first.
class Product {
 public:
  Product(CoreState& state, const Tile& stationary, const Tile& moving, int rows_per_partition)
      : k_(stationary.partitions() * rows_per_partition),
        m_(static_cast<int>(stationary.free_elements() / rows_per_partition)),
        n_(static_cast<int>(moving.free_elements() / rows_per_partition)),
        stored_(rows_per_partition == 1 && !(is_plain(stationary) && is_plain(moving)) &&
                is_even(stationary) && is_even(moving)) {
    if (stored_) {
      stored_a_ = stored(state, stationary);
      stored_b_ = stored(state, moving);
      return;
    }
    a_ = RowReader(state, 1, stationary).rows(0, stationary.partitions());
    b_ = RowReader(state, 2, moving).rows(0, moving.partitions());
    if (rows_per_partition == 1) return;
    // Both rows of a partition lie one after the other: as many rows again, half as far apart.
    if (a_.stride != rows_per_partition * m_ || b_.stride != rows_per_partition * n_) {
      internal_error("double_row operands were not gathered contiguously");
    }
    a_.stride = m_;
    b_.stride = n_;
  }

  void write(float* out, std::ptrdiff_t pitch, bool add) const {
    if (stored_) {
      numerics::matmul_accumulate(stored_a_, stored_b_, out, pitch, k_, m_, n_, add);
    } else {
      numerics::matmul_accumulate(a_.data, a_.stride, b_.data, b_.stride, out, pitch, k_, m_, n_,
                                  add);
    }
  }

 private:
  static bool is_even(const Tile& tile) { return memory::walk_of(tile).dims == 1; }
  static bool is_plain(const Tile& tile) {
    return tile.dtype == Dtype::kFloat32 && memory::walk_of(tile).contiguous(tile.element_bytes());
  }
  static numerics::MatmulOperand stored(const CoreState& state, const Tile& tile) {
    return {tile.dtype, state.memory.data(tile), state.memory.partition_pitch(tile.space),
            memory::walk_of(tile).inner_stride()};
  }

  int k_, m_, n_;
  bool stored_;
  numerics::MatmulOperand stored_a_{}, stored_b_{};
  Rows a_, b_;
};

}  // namespace

void check_matmul_dtype(const Rules& rules, const char* name, const Tile& tile) {
  const bool ok = is_fp32_like(tile) || tile.dtype == Dtype::kBfloat16 ||
                  tile.dtype == Dtype::kFloat16 || tile.dtype == Dtype::kFloat8E4M3 ||
                  tile.dtype == Dtype::kFloat8E5M2 || tile.dtype == Dtype::kFloat8E3M4 ||
                  (tile.dtype == Dtype::kFloat8E4M3FN && rules.generation() >= 4);
  if (!ok)
    rules.fail("dtype", "{} is {}, which the Tensor engine does not read", name,
               numerics::info(tile.dtype).name);
}

void check_product(const Rules& rules, const Tile& dst, std::int64_t m, std::int64_t n) {
  const catalog::TensorEngine& tensor = rules.core().tensor;
  if (m > tensor.stationary_free_max) {
    rules.fail("stationary_free", "stationary free size {} exceeds {} (columns of the array)", m,
               tensor.stationary_free_max.value);
  }
  const auto banks = static_cast<std::int64_t>(rules.core().psum.matmul_banks_max);
  const std::int64_t limit =
      banks * static_cast<std::int64_t>(rules.core().psum.bank_bytes) / dst.element_bytes();
  if (n > limit) {
    rules.fail("moving_free", "moving free size {} exceeds {} ({})", n, limit,
               banks == 1 ? "one PSUM bank" : "all PSUM banks of a partition");
  }
  if (dst.partitions() != m || dst.free_elements() != n) {
    rules.fail("dst_shape", "dst is [{}, {}] but stationary and moving give [{}, {}]",
               dst.partitions(), dst.free_elements(), m, n);
  }
}

void check_result_dtype(const Rules& rules, const Tile& dst) {
  const bool bf16_result = dst.dtype == Dtype::kBfloat16 && rules.core().psum.accumulates_bf16;
  if (dst.dtype != Dtype::kFloat32 && !bf16_result) {
    rules.fail("dst_dtype", "dst is {}; the result is float32{}", numerics::info(dst.dtype).name,
               rules.core().psum.accumulates_bf16 ? " or bfloat16" : "");
  }
}

void check_accumulate(const Rules& rules, const Tile& dst, const OptionalInt& accumulate) {
  if (!accumulate.present || !accumulate.value) return;
  if (rules.memory().accumulated(dst) || rules.generation() >= 4) return;
  if (!rules.memory().written(dst)) {
    rules.fail("accumulate",
               "accumulate=True on PSUM that nothing has written: the result is undefined; "
               "let the first matmul of the group overwrite (accumulate=False or None)");
  }
  rules.remark(
      "accumulate=True adds to what another instruction than a matmul wrote, which the vendor "
      "calls "
      "undefined on NeuronCore-v{}; let the first matmul of the group overwrite (accumulate=False "
      "or None)",
      rules.generation());
}

void check_bank(const Rules& rules, const Tile& dst) {
  const memory::Extent extent = memory::extent_of(dst);
  const auto bank = static_cast<std::int64_t>(rules.core().psum.bank_bytes);
  const std::int64_t banks = (extent.high - 1) / bank - extent.low / bank + 1;
  if (banks > rules.core().psum.matmul_banks_max) {
    rules.fail("bank",
               "dst spans {} PSUM banks (bytes {} to {} of the partition); at most {} allowed",
               banks, extent.low, extent.high - 1, rules.core().psum.matmul_banks_max.value);
  }
}

void check_array_tile(const Rules& rules, const IntList& position, const IntList& size,
                      std::int64_t rows, std::int64_t columns) {
  if (position.size == 0 && size.size == 0) return;
  if (position.size != 2 || size.size != 2) {
    rules.fail("array_tile",
               "tile_position and tile_size are both (row, column) pairs, given together");
  }
  const catalog::TensorEngine& array = rules.core().tensor;
  const auto tiles = static_cast<int>(array.row_tiles ? array.row_tiles->value : 1);
  for (int i = 0; i < 2; ++i) {
    const auto whole = static_cast<int>(i == 0 ? array.rows : array.columns);
    const int extent = size.values[i], at = position.values[i],
              parts = extent > 0 ? whole / extent : 0;
    if (parts < 1 || parts > tiles || extent * parts != whole || (parts & (parts - 1)) != 0) {
      rules.fail("array_tile", "tile_size {} is not {} or a half{} of it", extent, whole,
                 tiles > 2 ? " or a quarter" : "");
    }
    if (at % extent != 0 || at < 0 || at + extent > whole) {
      rules.fail("array_tile",
                 "tile_position {} is not a multiple of tile_size {} inside the {} x {} array", at,
                 extent, array.rows.value, array.columns.value);
    }
  }
  if (rows > size.values[0] || columns > size.values[1]) {
    rules.fail("array_tile", "operands of {} rows and {} columns do not fit the array tile {} x {}",
               rows, columns, size.values[0], size.values[1]);
  }
}

void accumulate_product(CoreState& state, const Tile& dst, Accumulate accumulate,
                        const WriteProduct& product) {
  bool add = accumulate == Accumulate::kAdd;
  if (accumulate == Accumulate::kAddWhereAccumulated) {
    const memory::Share group = state.memory.accumulated_by_itself(dst);
    if (group == memory::Share::kSome) {
      std::vector<float> fresh(static_cast<std::size_t>(dst.elements()));
      product(fresh.data(), dst.free_elements(), false);
      return add_where_accumulated(state, dst, fresh);
    }
    add = group == memory::Share::kAll;
  }
  RowWriter writer(state, 0, dst, {});
  MutableRows y = writer.rows(0, dst.partitions());
  if (add && y.data == state.scratch[0].data()) {
    RowReader old(state, 3, dst);
    const Rows before = old.rows(0, dst.partitions());
    for (std::size_t r = 0; r < y.count; ++r)
      std::memcpy(y.row(r), before.row(r), y.size * sizeof(float));
  }
  product(y.data, y.stride, add);
  writer.commit();
}

void multiply(CoreState& state, const Tile& dst, const Tile& stationary, const Tile& moving,
              int rows_per_partition, Accumulate accumulate) {
  const Product product(state, stationary, moving, rows_per_partition);
  accumulate_product(state, dst, accumulate, [&](float* out, std::ptrdiff_t pitch, bool add) {
    product.write(out, pitch, add);
  });
}

void transpose_exactly(CoreState& state, const Tile& dst, const Tile& stationary,
                       const Tile& moving) {
  RowReader reader(state, 1, moving);
  const Rows ones = reader.rows(0, moving.partitions());
  const std::vector<std::int64_t> from = read_integers(state, stationary);
  const auto m = static_cast<std::size_t>(stationary.free_elements());
  std::vector<std::int64_t> to(static_cast<std::size_t>(dst.elements()), 0);
  for (std::size_t column = 0; column < ones.size; ++column) {
    std::size_t hits = 0, source = 0;
    for (std::size_t k = 0; k < ones.count; ++k) {
      const float value = ones.row(k)[column];
      if (value == 0) continue;
      ++hits;
      source = k;
      if (value != 1) hits = 2;
    }
    if (hits > 1) {
      throw Error(Fault::kMissingSpec,
                  "nc_matmul: is_transpose with a moving tile that is not a permutation (column " +
                      std::to_string(column) +
                      "); no public document says what the array does then. Use an identity.");
    }
    if (hits == 1) {
      for (std::size_t row = 0; row < m; ++row)
        to[row * ones.size + column] = from[source * m + row];
    }
  }
  write_integers(state, dst, to);
}

Cost matmul_cost(const CostModel& model, double m, double cycles) {
  const catalog::TensorEngine& tensor = model.core().tensor;
  const double load = m / tensor.load_stationary_columns_per_cycle;
  const Picoseconds busy =
      from_cycles(std::max({tensor.min_issue_cycles.value, cycles, load}), tensor.clock);
  return {.occupancy = busy, .latency = busy + from_ns(tensor.fill_latency), .array_busy = busy};
}

Cost on_array_tile(const CostModel& model, const Cost& cost, const IntList& position,
                   const IntList& size) {
  const catalog::TensorEngine& tensor = model.core().tensor;
  if (size.size != 2 || !tensor.tiled_columns_per_cycle) return cost;
  constexpr int kParts = 4;  // of rows and of columns, in ArrayParts
  const auto part = [&](double whole, int at) { return static_cast<int>(at * kParts / whole); };
  const int first_row = part(tensor.rows, position.values[0]),
            first_column = part(tensor.columns, position.values[1]),
            rows = part(tensor.rows, size.values[0]),
            columns = part(tensor.columns, size.values[1]);
  Cost tiled = cost;
  tiled.array_parts = 0;
  for (int row = first_row; row < first_row + rows; ++row) {
    for (int column = first_column; column < first_column + columns; ++column)
      tiled.array_parts |= static_cast<ArrayParts>(1u << (kParts * row + column));
  }
  if (tiled.array_parts == kWholeArray) return cost;
  const double share = size.values[0] / tensor.rows / *tensor.tiled_columns_per_cycle;
  const Picoseconds read = from_ns(cost.array_busy.ns() * std::min(1.0, share));
  tiled.occupancy =
      std::max(read, std::min(cost.occupancy, from_cycles(tensor.min_issue_cycles, tensor.clock)));
  return tiled;
}

}  // namespace trnsim::isa
