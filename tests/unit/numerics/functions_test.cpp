// Special values and the vector paths; accuracy is measured in tests/numerics/test_functions.py.
#include "numerics/functions.h"

#include <gtest/gtest.h>

#include "samples.h"

namespace trnsim::numerics {
namespace {

using enum ActivationFunction;
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Activate, rows_equal_single_elements_and_may_be_in_place) {
  for (std::size_t f = 0; f < kActivationFunctionCount; ++f) {
    const auto function = static_cast<ActivationFunction>(f);
    EXPECT_EQ(activation_function_from_name(name(function)), function);
    for (std::size_t n = 0; n < 68; ++n) {
      const auto x = sample_values(n, n + 1);
      auto y = x;
      activate(function, y.data(), y.data(), n, 0.25f);
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_TRUE(same(y[i], activate(function, x[i], 0.25f))) << name(function);
    }
  }
}

TEST(Activate, infinities_go_to_the_limits) {
  struct Limit {
    ActivationFunction function;
    float low;
    float high;
  };
  const Limit limits[] = {{kSigmoid, 0, 1},
                          {kGelu, 0, kInf},
                          {kGeluDx, 0, 1},
                          {kGeluApprxTanh, 0, kInf},
                          {kSilu, 0, kInf},
                          {kSiluDx, 0, 1},
                          {kTanh, -1, 1},
                          {kSoftplus, 0, kInf},
                          {kMish, 0, kInf},
                          {kErf, -1, 1},
                          {kErfDx, 0, 0},
                          {kExp, 0, kInf},
                          {kGeluApprxSigmoid, 0, kInf},
                          {kGeluApprxSigmoidDx, 0, 1},
                          {kSign, -1, 1}};
  for (const Limit& limit : limits) {
    EXPECT_EQ(activate(limit.function, -kInf), limit.low) << name(limit.function);
    EXPECT_EQ(activate(limit.function, kInf), limit.high) << name(limit.function);
    EXPECT_TRUE(std::isnan(activate(limit.function, std::nanf("")))) << name(limit.function);
  }
  EXPECT_EQ(activate(kLog, 0.0f), -kInf);
  EXPECT_TRUE(std::isnan(activate(kLog, -1.0f)));
  EXPECT_EQ(activate(kLog, kInf), kInf);
}

TEST(Activate, sin_extrapolates_as_a_cubic) {
  EXPECT_NEAR(activate(kSin, 9.0f), 27.65f, 0.005f);
  EXPECT_EQ(activate(kSin, -9.0f), -activate(kSin, 9.0f));
  EXPECT_FLOAT_EQ(activate(kSin, 1.0f), 0.84147098f);
}

TEST(Activate, prelu_uses_alpha) {
  EXPECT_EQ(activate(kPrelu, -2.0f, 0.25f), -0.5f);
  EXPECT_EQ(activate(kRelu, -2.0f), 0.0f);
  EXPECT_EQ(activation_function_from_name("identity"), kCopy);
  EXPECT_EQ(activation_function_from_name("cosh"), std::nullopt);
}

TEST(Power, special_values_are_those_of_c) {
  const float values[] = {0.0f,  -0.0f, 1.0f, -1.0f, 2.0f,          -2.0f,  3.0f,
                          -3.0f, 0.5f,  kInf, -kInf, std::nanf(""), 0x1p25f};
  for (float base : values) {
    for (float exponent : values) {
      const auto expected =
          static_cast<float>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
      EXPECT_TRUE(same(power(base, exponent), expected)) << base << " ^ " << exponent;
    }
  }
}

TEST(Fmod, equals_the_library) {
  const auto a = sample_values(2000, 1);
  const auto b = sample_values(2000, 2);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(same(fmod(a[i], b[i]), std::fmod(a[i], b[i]))) << a[i] << " " << b[i];
    EXPECT_TRUE(same(fmod(a[i] * 1e30f, b[i]), std::fmod(a[i] * 1e30f, b[i])))
        << a[i] << " " << b[i];
  }
}

}  // namespace
}  // namespace trnsim::numerics
