#include "numerics/elementwise.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "samples.h"

namespace trnsim::numerics {
namespace {

std::vector<AluOp> operators(bool bitvec) {
  std::vector<AluOp> found;
  for (std::size_t i = 0; i < kAluOpCount; ++i) {
    if (is_bitvec(static_cast<AluOp>(i)) == bitvec) found.push_back(static_cast<AluOp>(i));
  }
  return found;
}

TEST(AluOp, names_round_trip) {
  for (bool bitvec : {false, true}) {
    for (AluOp op : operators(bitvec)) EXPECT_EQ(alu_op_from_name(name(op)), op);
  }
  EXPECT_EQ(name(AluOp::kAbsMax), "abs_max");
  EXPECT_EQ(name(AluOp::kRightShift), "right_shift");
  EXPECT_EQ(alu_op_from_name("max"), std::nullopt);
}

TEST(Apply, follows_the_documented_rules) {
  const float nan = std::nanf("");
  EXPECT_EQ(apply(AluOp::kAbsMax, -3, 3), 3.0f);  // tie: the second operand
  EXPECT_EQ(apply(AluOp::kAbsMax, -4, 3), -4.0f);
  EXPECT_EQ(apply(AluOp::kAbsMin, -4, 3), 3.0f);
  EXPECT_TRUE(std::isnan(apply(AluOp::kMaximum, nan, 1)));
  EXPECT_TRUE(std::isnan(apply(AluOp::kMinimum, 1, nan)));
  EXPECT_EQ(apply(AluOp::kNotEqual, nan, nan), 1.0f);
  EXPECT_EQ(apply(AluOp::kLess, 1, 2), 1.0f);
  EXPECT_EQ(apply(AluOp::kLogicalXor, 5, 0), 1.0f);
  EXPECT_EQ(apply(AluOp::kPower, 3, 4), 81.0f);
  EXPECT_EQ(apply(AluOp::kMod, -7, 3), 2.0f);
  EXPECT_EQ(apply(AluOp::kFmod, -7, 3), -1.0f);
  EXPECT_EQ(apply(AluOp::kRsqrt, 4, 0), 0.5f);
  EXPECT_THROW(apply(AluOp::kBitwiseAnd, 1, 1), Error);
}

TEST(Binary, equals_apply_for_all_sizes_and_strides) {
  for (AluOp op : operators(false)) {
    for (std::size_t n = 0; n < 68; ++n) {
      constexpr std::size_t kRows = 3;
      const std::size_t a_stride = n + 1;
      const std::size_t out_stride = n + 3;
      const auto a = sample_values(kRows * a_stride, n + 1);
      const auto b = sample_values(kRows * a_stride, n + 1000);
      std::vector<float> out(kRows * out_stride, 77.0f);
      binary(op, a.data(), static_cast<std::ptrdiff_t>(a_stride), b.data(), 0, out.data(),
             static_cast<std::ptrdiff_t>(out_stride), kRows, n);
      for (std::size_t r = 0; r < kRows; ++r) {
        for (std::size_t i = 0; i < n; ++i) {
          ASSERT_TRUE(same(out[r * out_stride + i], apply(op, a[r * a_stride + i], b[i])))
              << name(op);
        }
        EXPECT_EQ(out[r * out_stride + n], 77.0f);
      }
    }
  }
}

TEST(Binary, may_write_over_its_input) {
  for (AluOp op : operators(false)) {
    const auto a = sample_values(67, 1);
    const auto b = sample_values(67, 2);
    auto out = a;
    binary(op, out.data(), 67, b.data(), 67, out.data(), 67, 1, 67);
    for (std::size_t i = 0; i < 67; ++i)
      ASSERT_TRUE(same(out[i], apply(op, a[i], b[i]))) << name(op);
  }
}

TEST(BinaryScalar, equals_apply_in_both_orders) {
  for (AluOp op : operators(false)) {
    for (std::size_t n = 0; n < 68; ++n) {
      for (bool reversed : {false, true}) {
        const auto a = sample_values(2 * n, n + 5);
        const auto scalars = sample_values(4, n + 9);
        std::vector<float> out(2 * n);
        const auto stride = static_cast<std::ptrdiff_t>(n);
        binary_scalar(op, a.data(), stride, scalars.data(), 3, reversed, out.data(), stride, 2, n);
        for (std::size_t i = 0; i < 2 * n; ++i) {
          const float s = scalars[i / n * 3];
          ASSERT_TRUE(same(out[i], reversed ? apply(op, s, a[i]) : apply(op, a[i], s))) << name(op);
        }
      }
    }
  }
}

template <class T>
void check_bitwise() {
  Xorwow generator(4);
  for (AluOp op : operators(true)) {
    for (std::size_t n = 0; n < 68; ++n) {
      std::vector<T> a(n);
      std::vector<T> b(n);
      std::vector<T> out(n);
      for (std::size_t i = 0; i < n; ++i) {
        a[i] = static_cast<T>(generator.next());
        b[i] = static_cast<T>(i % 3 == 0 ? generator.next() : i);
      }
      const auto stride = static_cast<std::ptrdiff_t>(n);
      bitwise(op, sizeof(T), a.data(), stride, b.data(), stride, out.data(), stride, 1, n);
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(out[i], apply_bits(op, sizeof(T), a[i], b[i])) << name(op);
      const T scalar = 3;
      for (bool reversed : {false, true}) {
        bitwise_scalar(op, sizeof(T), a.data(), stride, &scalar, 0, reversed, out.data(), stride, 1,
                       n);
        for (std::size_t i = 0; i < n; ++i) {
          const std::uint32_t expected = reversed ? apply_bits(op, sizeof(T), scalar, a[i])
                                                  : apply_bits(op, sizeof(T), a[i], scalar);
          ASSERT_EQ(out[i], expected) << name(op);
        }
      }
    }
  }
}

TEST(Bitwise, equals_apply_bits_for_every_width) {
  check_bitwise<std::uint8_t>();
  check_bitwise<std::uint16_t>();
  check_bitwise<std::uint32_t>();
}

TEST(Bitwise, shifts_beyond_the_width_give_zero) {
  EXPECT_EQ(apply_bits(AluOp::kLeftShift, 1, 0xff, 8), 0u);
  EXPECT_EQ(apply_bits(AluOp::kRightShift, 4, 0xffffffffu, 32), 0u);
  EXPECT_EQ(apply_bits(AluOp::kRightShift, 2, 0x8000, 15), 1u);  // logical, not arithmetic
  EXPECT_EQ(apply_bits(AluOp::kInvert, 1, 0x0f, 0), 0xf0u);
  EXPECT_THROW(apply_bits(AluOp::kAdd, 4, 1, 1), Error);
}

TEST(Int32, is_exact_and_wraps) {
  EXPECT_EQ(apply_int32(AluOp::kAdd, true, 0x7fffffffu, 1), 0x80000000u);
  EXPECT_EQ(apply_int32(AluOp::kMultiply, true, 16777217u, 3), 50331651u);
  EXPECT_EQ(apply_int32(AluOp::kMaximum, true, 0xffffffffu, 1), 1u);
  EXPECT_EQ(apply_int32(AluOp::kMaximum, false, 0xffffffffu, 1), 0xffffffffu);
  EXPECT_EQ(apply_int32(AluOp::kLess, true, 0xffffffffu, 1), 1u);
  EXPECT_THROW(apply_int32(AluOp::kRsqrt, true, 4, 0), Error);
  const std::uint32_t a[] = {1, 2, 3, 4};
  std::uint32_t out[4];
  binary_int32(AluOp::kMultiply, true, a, 2, a, 2, out, 2, 2, 2);
  EXPECT_EQ(out[3], 16u);
}

}  // namespace
}  // namespace trnsim::numerics
