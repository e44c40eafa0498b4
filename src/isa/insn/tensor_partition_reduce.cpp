// Reduce over the partitions: dst[0, f] = data[0, f] <op> data[1, f] <op> ..., in ascending order
// of the partitions, in fp32 (bitwise operations on the integers as they are). Slow on hardware: a
// matmul with ones is the usual way.
#include <cstring>

#include "isa/bits.h"
#include "isa/instruction.h"
#include "isa/rows.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

struct TensorPartitionReduce {
  Tile dst;
  AluOp op = AluOp::kAdd;
  Tile data;

  static constexpr Info kInfo{
      .name = "tensor_partition_reduce",
      .summary = "dst[0, f] = reduction of data[:, f] over the partitions",
      .engines = "GpSimd",
      .cost = "start + c N cycles, c of the catalogue (no public figure); + drain",
      .source = "NKI documentation, nki.isa.tensor_partition_reduce",
      .since = 2};
  static constexpr std::tuple kFields{out("dst", &TensorPartitionReduce::dst),
                                      arg("op", &TensorPartitionReduce::op),
                                      in("data", &TensorPartitionReduce::data)};

  Engine engine_on(int) const { return Engine::kGpsimd; }

  void check(const Rules& rules) const {
    rules.operand("dst", dst, Buffers::kSbuf);
    rules.operand("data", data, Buffers::kSbuf);
    if (op != AluOp::kAdd && op != AluOp::kAverage && op != AluOp::kMaximum &&
        op != AluOp::kBitwiseOr && op != AluOp::kBitwiseAnd) {
      rules.fail("op", "op {} is not add, average, maximum, bitwise_or or bitwise_and",
                 numerics::name(op));
    }
    if (dst.partitions() != 1)
      rules.fail("dst_partitions", "dst has {} partitions; it must have 1", dst.partitions());
    rules.same_free_size("dst", dst, "data", data);
    if (!numerics::is_bitvec(op)) return;
    rules.integer_bits("data", data);
    rules.integer_bits("dst", dst);
  }

  void execute(CoreState& state) const {
    if (numerics::is_bitvec(op)) return reduce_bits(state);
    RowReader reader(state, 1, data);
    const Rows x = reader.rows(0, data.partitions());
    std::vector<float> sum(x.row(0), x.row(0) + x.size);
    for (std::size_t p = 1; p < x.count; ++p) {
      numerics::binary(op, sum.data(), 0, x.row(p), 0, sum.data(), 0, 1, x.size);
    }
    if (op == AluOp::kAverage) {
      for (float& value : sum) value /= static_cast<float>(x.count);
    }
    RowWriter writer(state, 0, dst, {});
    std::memcpy(writer.rows(0, 1).row(0), sum.data(), sum.size() * sizeof(float));
    writer.commit();
  }

  void reduce_bits(CoreState& state) const {
    const std::vector<std::int64_t> values = read_integers(state, data);
    const auto n = static_cast<std::size_t>(dst.elements());
    std::vector<std::int64_t> result(values.begin(),
                                     values.begin() + static_cast<std::ptrdiff_t>(n));
    for (std::size_t i = n; i < values.size(); ++i) {
      result[i % n] = integer_op(op, result[i % n], values[i], dst.dtype);
    }
    write_integers(state, dst, result);
  }

  Cost cost(const CostModel& model) const {
    Cost cost = model.gpsimd(static_cast<double>(data.free_elements()) *
                             model.core().gpsimd->partition_reduce_cycles);
    cost.flops = data.elements();
    return cost;
  }
};

}  // namespace

InstructionType insn_tensor_partition_reduce() { return describe<TensorPartitionReduce>(); }

}  // namespace trnsim::isa
