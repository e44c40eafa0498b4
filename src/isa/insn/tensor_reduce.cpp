// Reduce the trailing free dimensions of a tile: dst[p, kept...] = op over data[p, kept...,
// reduced...].
#include <algorithm>

#include "isa/accumulator.h"
#include "isa/bits.h"
#include "isa/instruction.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

struct TensorReduce {
  Tile dst;
  AluOp op = AluOp::kAdd;
  Tile data;
  IntList axis;
  bool negate = false;
  bool keepdims = false;  // a matter of dst's shape only

  static constexpr Info kInfo{
      .name = "tensor_reduce",
      .summary = "dst = data reduced over its trailing free dimensions, in ascending order",
      .engines = "Vector",
      .cost = "max(MIN_II, N / 2) cycles for add and maximum of bf16, else max(MIN_II, N)",
      .source = "NKI documentation 2.26 and 2.32, nki.isa.tensor_reduce"};
  static constexpr std::tuple kFields{
      indirectable(out("dst", &TensorReduce::dst)),  arg("op", &TensorReduce::op),
      indirectable(in("data", &TensorReduce::data)), arg("axis", &TensorReduce::axis),
      opt("negate", &TensorReduce::negate),          opt("keepdims", &TensorReduce::keepdims)};

  Engine engine_on(int) const { return Engine::kVector; }

  // Elements of one reduction; the axes have been checked.
  std::int64_t reduced() const {
    std::int64_t n = 1;
    for (int i = data.dims - axis.size; i < data.dims; ++i) n *= data.sizes[i];
    return n;
  }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    check_tile(rules, "data", data);
    rules.same_partitions("data", data, "dst", dst);
    check_axis(rules);
    check_op(rules);
    const std::int64_t kept = data.free_elements() / reduced();
    if (dst.free_elements() != kept) {
      rules.fail("dst_size",
                 "dst has {} elements per partition but the dimensions that are kept have {}",
                 dst.free_elements(), kept);
    }
  }

  void check_axis(const Rules& rules) const {
    std::array<int, 32> axes{};
    for (int i = 0; i < axis.size; ++i)
      axes[i] = axis.values[i] < 0 ? axis.values[i] + data.dims : axis.values[i];
    std::sort(axes.begin(), axes.begin() + axis.size);
    if (axis.size > 0 && axes[0] == 0) {
      rules.fail("axis_partition",
                 "axis 0 is the partition dimension, which the Vector engine cannot reduce; "
                 "transpose first or multiply by ones on the Tensor engine");
    }
    bool trailing = axis.size > 0 && axis.size < data.dims;
    for (int i = 0; trailing && i < axis.size; ++i) trailing = axes[i] == data.dims - axis.size + i;
    if (!trailing) {
      rules.fail("axis", "the axes must be the last free dimensions of data's {}, without gaps",
                 int{data.dims});
    }
  }

  void check_op(const Rules& rules) const {
    using enum AluOp;
    if (op == kBitwiseAnd || op == kBitwiseOr || op == kBitwiseXor) {
      rules.integer_bits("data", data);
      rules.integer_bits("dst", dst);
      if (dst.element_bytes() != data.element_bytes()) {
        rules.fail("bit_width", "dst is {} and data is {}; bitwise operators do not convert",
                   numerics::info(dst.dtype).name, numerics::info(data.dtype).name);
      }
      if (negate)
        rules.fail("negate", "negate is for arithmetic operators; op is {}", numerics::name(op));
      return;
    }
    if (op == kAbsMax || op == kAbsMin) return rules.generation_at_least(4, "op abs_max/abs_min");
    constexpr AluOp kLegal[] = {kAdd,     kSubtract,   kMultiply,  kMaximum,
                                kMinimum, kLogicalAnd, kLogicalOr, kLogicalXor};
    if (std::find(std::begin(kLegal), std::end(kLegal), op) == std::end(kLegal)) {
      rules.fail("op", "op {} is no reduction operator", numerics::name(op));
    }
  }

  void execute(CoreState& state) const {
    if (numerics::is_bitvec(op)) return execute_bits(state);
    RowReader reader(state, 1, data);
    RowWriter writer(state, 0, dst, {&data});
    const int rows = data.partitions();
    const int step = writer.needs_whole_tile()
                         ? rows
                         : std::max(kReductionRows, rows_per_block(data.free_elements()));
    for (int first = 0; first < rows; first += step) {
      const int count = std::min(step, rows - first);
      const Rows x = reader.rows(first, count);
      const MutableRows y = writer.rows(first, count);
      reduce(x, y, working_rows(state, 4, y.count * y.size));
      writer.commit();
    }
  }

  // Through `sums`, since y may lie in x.
  void reduce(const Rows& x, const MutableRows& y, float* sums) const {
    const std::size_t kept = y.size, n = x.size / kept;
    for (std::size_t k = 0; k < kept; ++k) reduce_column(x, k * n, n, sums + k * y.count);
    for (std::size_t r = 0; r < y.count; ++r) {
      for (std::size_t k = 0; k < kept; ++k) {
        const float sum = sums[k * y.count + r];
        y.row(r)[k] = negate ? -sum : sum;
      }
    }
  }

  // One kept position of all rows. subtract takes the others from the first, as numpy does.
  void reduce_column(const Rows& x, std::size_t at, std::size_t n, float* sums) const {
    if (op == AluOp::kSubtract) {
      for (std::size_t r = 0; r < x.count; ++r) sums[r] = x.row(r)[at];
      return numerics::reduce_rows(op, x.data + at + 1, x.stride, x.count, n - 1, sums);
    }
    std::fill_n(sums, x.count, identity_of(op));
    numerics::reduce_rows(op, x.data + at, x.stride, x.count, n, sums);
  }

  void execute_bits(CoreState& state) const {
    const std::vector<std::int64_t> x = read_integers(state, data);
    std::vector<std::int64_t> y(static_cast<std::size_t>(dst.elements()));
    const std::size_t n = x.size() / y.size();
    for (std::size_t k = 0; k < y.size(); ++k) {
      y[k] = x[k * n];
      for (std::size_t i = 1; i < n; ++i) y[k] = integer_op(op, y[k], x[k * n + i], dst.dtype);
    }
    write_integers(state, dst, y);
  }

  Cost cost(const CostModel& model) const {
    const bool faster = data.dtype == Dtype::kBfloat16 && dst.dtype == Dtype::kBfloat16 &&
                        (op == AluOp::kAdd || op == AluOp::kMaximum);
    const double n = static_cast<double>(data.free_elements()) * model.stride_slowdown(data);
    Cost cost = model.vector(faster ? n / model.core().vector.reduce_16bit_speedup : n);
    cost.flops = data.elements();
    return cost;
  }
};

}  // namespace

InstructionType insn_tensor_reduce() { return describe<TensorReduce>(); }

}  // namespace trnsim::isa
