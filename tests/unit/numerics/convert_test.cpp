// Layout and rounding basics; values of every dtype are compared with ml_dtypes in
// tests/numerics/test_dtypes.py.
#include "numerics/convert.h"

#include <gtest/gtest.h>

#include <cstring>

#include "numerics/random.h"
#include "samples.h"

namespace trnsim::numerics {
namespace {

std::vector<Dtype> every_dtype() {
  std::vector<Dtype> types;
  for (std::size_t i = 0; i < kDtypeCount; ++i) types.push_back(static_cast<Dtype>(i));
  return types;
}

TEST(Dtype, names_round_trip_and_unknown_names_are_refused) {
  for (Dtype type : every_dtype()) EXPECT_EQ(dtype_from_name(info(type).name), type);
  EXPECT_EQ(dtype_from_name("bool"), Dtype::kBool);
  EXPECT_EQ(dtype_from_name("float64"), std::nullopt);
}

TEST(Dtype, limits_are_what_conversion_produces) {
  for (Dtype type : every_dtype()) {
    const DtypeInfo& dtype = info(type);
    if (dtype.packed != 1) continue;
    EXPECT_EQ(round_to(type, static_cast<float>(dtype.max_finite)),
              static_cast<float>(dtype.max_finite))
        << dtype.name;
    EXPECT_EQ(round_to(type, static_cast<float>(dtype.lowest)), static_cast<float>(dtype.lowest))
        << dtype.name;
    EXPECT_EQ(round_to(type, static_cast<float>(dtype.smallest)),
              static_cast<float>(dtype.smallest))
        << dtype.name;
    EXPECT_EQ(std::isnan(round_to(type, std::nanf(""))), dtype.has_nan) << dtype.name;
  }
}

TEST(Convert, rows_of_any_length_and_stride_equal_single_elements) {
  for (Dtype type : every_dtype()) {
    const auto bytes = static_cast<std::size_t>(info(type).bytes);
    const auto packed = static_cast<std::size_t>(info(type).packed);
    for (std::size_t n = 0; n < 68; ++n) {
      for (std::size_t gap : {0, 1, 5}) {
        const std::size_t stride = bytes + gap;
        const std::vector<float> values = sample_values(n * packed, n + 1);
        std::vector<unsigned char> row(n * stride + 1, 0xa5);
        from_float(type, values.data(), row.data() + 1, static_cast<std::ptrdiff_t>(stride), n);
        std::vector<float> back(n * packed);
        to_float(type, row.data() + 1, static_cast<std::ptrdiff_t>(stride), back.data(), n);
        for (std::size_t i = 0; i < n; ++i) {
          unsigned char unit[4];
          from_float(type, values.data() + i * packed, unit, 0, 1);
          EXPECT_EQ(std::memcmp(unit, row.data() + 1 + i * stride, bytes), 0) << info(type).name;
          for (std::size_t k = bytes; k < stride && i + 1 < n; ++k)
            EXPECT_EQ(row[1 + i * stride + k], 0xa5);
          float elements[4];
          to_float(type, unit, 0, elements, 1);
          for (std::size_t k = 0; k < packed; ++k)
            EXPECT_TRUE(same(elements[k], back[i * packed + k]));
        }
      }
    }
  }
}

TEST(Convert, negative_and_zero_strides_walk_as_told) {
  const std::int16_t values[] = {1, 2, 3};
  float out[3];
  to_float(Dtype::kInt16, values + 2, -2, out, 3);
  EXPECT_EQ(out[0], 3.0f);
  EXPECT_EQ(out[2], 1.0f);
  to_float(Dtype::kInt16, values + 1, 0, out, 3);
  EXPECT_EQ(out[0] + out[1] + out[2], 6.0f);
}

TEST(Convert, integers_round_to_even_saturate_and_take_nan_as_zero) {
  const float values[] = {0.5f, 1.5f, -2.5f, 300.0f, -300.0f, std::nanf(""), INFINITY, -INFINITY};
  std::int8_t out[8];
  from_float(Dtype::kInt8, values, out, 1, 8);
  const std::int8_t expected[] = {0, 2, -2, 127, -128, 0, 127, -128};
  EXPECT_EQ(std::memcmp(out, expected, 8), 0);
}

TEST(Convert, copies_keep_every_bit) {
  const std::uint32_t signalling = 0x7f800001u;
  std::uint32_t copy[3] = {};
  copy_elements(4, &signalling, 0, copy, 4, 3);
  EXPECT_EQ(copy[2], signalling);
}

TEST(Convert, packs_put_the_even_fp4_element_in_the_low_nibble) {
  const float elements[4] = {0.5f, -6.0f, 1.0f, 0.0f};
  unsigned char unit[2];
  pack_x4(Dtype::kFloat4E2M1FNx4, elements, unit);
  EXPECT_EQ(unit[0], 0xf1);
  EXPECT_EQ(unit[1], 0x02);
  float back[4];
  unpack_x4(Dtype::kFloat4E2M1FNx4, unit, back);
  EXPECT_EQ(std::memcmp(back, elements, sizeof back), 0);
}

TEST(StochasticRounding, does_not_depend_on_the_stride) {
  const std::vector<float> values = sample_values(700, 3);
  std::vector<std::uint16_t> packed(700);
  std::vector<std::uint16_t> spread(1400);
  StochasticRounding first(9);
  StochasticRounding second(9);
  from_float_stochastic(Dtype::kFloat16, values.data(), packed.data(), 2, 700, first);
  from_float_stochastic(Dtype::kFloat16, values.data(), spread.data(), 4, 700, second);
  for (std::size_t i = 0; i < 700; ++i) EXPECT_EQ(packed[i], spread[2 * i]);
}

TEST(StochasticRounding, adding_half_an_ulp_many_times_grows_as_documented) {
  // The Neuron rounding-mode page: 1024 + 0.5, 2048 times in fp16, stays 1024 to nearest and
  // reaches about 2056.
  StochasticRounding stream(1);
  float sum = 1024.0f;
  for (int i = 0; i < 2048; ++i) {
    std::uint16_t stored;
    sum += 0.5f;
    from_float_stochastic(Dtype::kFloat16, &sum, &stored, 2, 1, stream);
    to_float(Dtype::kFloat16, &stored, 2, &sum, 1);
  }
  EXPECT_NEAR(sum, 2048.0f, 100.0f);
  EXPECT_EQ(round_to(Dtype::kFloat16, 1024.5f), 1024.0f);
}

}  // namespace
}  // namespace trnsim::numerics
