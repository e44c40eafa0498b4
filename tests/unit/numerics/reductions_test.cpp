#include <gtest/gtest.h>

#include "numerics/elementwise.h"
#include "samples.h"

namespace trnsim::numerics {
namespace {

const AluOp kReductions[] = {AluOp::kAdd,     AluOp::kSubtract,  AluOp::kMultiply, AluOp::kMaximum,
                             AluOp::kMinimum, AluOp::kAbsMax,    AluOp::kAbsMin,   AluOp::kAverage,
                             AluOp::kPower,   AluOp::kLogicalAnd};

TEST(Reduce, is_sequential) {
  const float values[] = {1.0f, 0x1p24f, 1.0f, -0x1p24f};
  EXPECT_EQ(reduce(AluOp::kAdd, 0.0f, values, 4), 0.0f);  // a pairwise order would give another sum
  for (AluOp op : kReductions) {
    const auto a = sample_values(67, 6);
    float expected = 1.0f;
    for (float value : a) expected = apply(op, expected, value);
    EXPECT_TRUE(same(reduce(op, 1.0f, a.data(), a.size()), expected)) << name(op);
  }
}

TEST(ReduceRows, gives_the_bits_of_the_sequential_order) {
  for (AluOp op : kReductions) {
    for (std::size_t rows : {1, 7, 8, 9, 16, 35}) {
      for (std::size_t n = 0; n < 68; ++n) {
        const std::size_t stride = n + 2;
        const auto a = sample_values(rows * stride, n + rows, n % 2 == 0);
        auto results = sample_values(rows, 5, false);
        const auto initial = results;
        reduce_rows(op, a.data(), static_cast<std::ptrdiff_t>(stride), rows, n, results.data());
        for (std::size_t r = 0; r < rows; ++r) {
          ASSERT_TRUE(same(results[r], reduce(op, initial[r], a.data() + r * stride, n)))
              << name(op);
        }
      }
    }
  }
}

void check_scan(const ScanOps& ops, std::size_t rows, std::size_t n) {
  const std::size_t stride = n + 1;
  const auto step = static_cast<std::ptrdiff_t>(stride);
  const auto data0 = sample_values(rows * stride, n + 1, false);
  const auto data1 = sample_values(rows * stride, n + 2, n % 2 == 0);
  auto states = sample_values(rows, 3, false);
  const auto initial = states;
  std::vector<float> out(rows * stride, 77.0f);
  scan_rows(ops, data0.data(), step, data1.data(), step, states.data(), out.data(), step, rows, n);
  for (std::size_t r = 0; r < rows; ++r) {
    float state = initial[r];
    for (std::size_t i = 0; i < n; ++i) {
      const float left = data0[r * stride + i];
      const float right = data1[r * stride + i];
      state = ops.reverse0 ? apply(ops.op0, state, left) : apply(ops.op0, left, state);
      state = ops.reverse1 ? apply(ops.op1, right, state) : apply(ops.op1, state, right);
      ASSERT_TRUE(same(out[r * stride + i], state)) << name(ops.op0) << " " << name(ops.op1);
    }
    EXPECT_TRUE(same(states[r], state));
    EXPECT_EQ(out[r * stride + n], 77.0f);
  }
}

TEST(ScanRows, equals_the_documented_recurrence) {
  for (AluOp op0 :
       {AluOp::kMultiply, AluOp::kAdd, AluOp::kSubtract, AluOp::kMaximum, AluOp::kPower}) {
    for (AluOp op1 : {AluOp::kAdd, AluOp::kSubtract, AluOp::kMinimum, AluOp::kBypass}) {
      for (int reversal = 0; reversal < 4; ++reversal) {
        for (std::size_t rows : {1, 8, 11}) {
          for (std::size_t n : {0, 1, 7, 8, 9, 16, 31, 67}) {
            check_scan({op0, op1, (reversal & 1) != 0, (reversal & 2) != 0}, rows, n);
          }
        }
      }
    }
  }
}

TEST(ScanRows, needs_no_second_operand_when_it_is_bypassed) {
  const auto data = sample_values(20 * 33, 1, false);
  std::vector<float> states(20, 0.0f);
  std::vector<float> out(20 * 33);
  scan_rows({AluOp::kAdd, AluOp::kBypass}, data.data(), 33, nullptr, 0, states.data(), out.data(),
            33, 20, 33);
  for (std::size_t r = 0; r < 20; ++r)
    EXPECT_EQ(states[r], reduce(AluOp::kAdd, 0.0f, data.data() + 33 * r, 33));
}

}  // namespace
}  // namespace trnsim::numerics
