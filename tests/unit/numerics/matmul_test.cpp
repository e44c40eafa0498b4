#include "numerics/matmul.h"

#include <gtest/gtest.h>

#include <cmath>

#include "numerics/convert.h"
#include "samples.h"

namespace trnsim::numerics {
namespace {

struct Shape {
  int K, M, N;
};
const Shape kShapes[] = {{1, 1, 1},   {3, 5, 7},    {16, 6, 16},  {17, 13, 33},  {128, 128, 50},
                         {128, 8, 1}, {40, 12, 32}, {33, 25, 67}, {64, 127, 15}, {0, 3, 5}};

std::vector<float> chain(const Shape& s, const std::vector<float>& stationary,
                         const std::vector<float>& moving, const std::vector<float>& old,
                         bool accumulate) {
  std::vector<float> out(old);
  for (int m = 0; m < s.M; ++m) {
    for (int n = 0; n < s.N; ++n) {
      float sum = 0.0f;
      for (int k = 0; k < s.K; ++k)
        sum = std::fma(stationary[k * s.M + m], moving[k * s.N + n], sum);
      out[m * s.N + n] = accumulate ? out[m * s.N + n] + sum : sum;
    }
  }
  return out;
}

TEST(Matmul, every_kernel_is_the_ascending_chain_of_multiply_adds) {
  for (MatmulKernel kernel : {MatmulKernel::kGeneric, MatmulKernel::kAvx2, MatmulKernel::kAvx512}) {
    if (!is_available(kernel)) continue;
    for (const Shape& s : kShapes) {
      for (bool specials : {false, true}) {
        const auto stationary = sample_values(static_cast<std::size_t>(s.K * s.M), 1, specials);
        const auto moving = sample_values(static_cast<std::size_t>(s.K * s.N), 2, specials);
        const auto old = sample_values(static_cast<std::size_t>(s.M * s.N), 3, specials);
        for (bool accumulate : {false, true}) {
          auto out = old;
          matmul_accumulate_with(kernel, stationary.data(), s.M, moving.data(), s.N, out.data(),
                                 s.N, s.K, s.M, s.N, accumulate);
          const auto expected = chain(s, stationary, moving, old, accumulate);
          for (std::size_t i = 0; i < out.size(); ++i) {
            ASSERT_TRUE(same(out[i], expected[i]))
                << static_cast<int>(kernel) << " " << s.K << " " << s.M << " " << s.N;
            ASSERT_TRUE(!std::isnan(out[i]) || std::bit_cast<std::uint32_t>(out[i]) == 0x7fc00000u);
          }
        }
      }
    }
  }
}

TEST(Matmul, leaves_what_lies_between_rows_alone) {
  const auto stationary = sample_values(4 * 3, 1, false);
  const auto moving = sample_values(4 * 5, 2, false);
  std::vector<float> out(3 * 8, 77.0f);
  matmul_accumulate(stationary.data(), 3, moving.data(), 5, out.data(), 8, 4, 3, 5, false);
  for (std::size_t m = 0; m < 3; ++m) {
    for (std::size_t n = 5; n < 8; ++n) EXPECT_EQ(out[m * 8 + n], 77.0f);
  }
}

TEST(Matmul, stored_operands_equal_their_decoded_values) {
  for (Dtype type : {Dtype::kFloat32, Dtype::kBfloat16, Dtype::kFloat16, Dtype::kFloat8E4M3,
                     Dtype::kFloat8E5M2}) {
    constexpr int K = 20, M = 9, N = 300;
    const std::ptrdiff_t bytes = info(type).bytes;
    const std::ptrdiff_t gap = 2 * bytes;  // every other element
    const auto values = sample_values(K * (M + N), 5, false);
    std::vector<unsigned char> stored(static_cast<std::size_t>(K * (M + N) * gap));
    from_float(type, values.data(), stored.data(), gap, values.size());
    std::vector<float> plain(values.size());
    to_float(type, stored.data(), gap, plain.data(), plain.size());
    std::vector<float> out(M * N);
    std::vector<float> expected(M * N);
    matmul_accumulate({type, stored.data(), M * gap, gap},
                      {type, stored.data() + K * M * gap, N * gap, gap}, out.data(), N, K, M, N,
                      false);
    matmul_accumulate(plain.data(), M, plain.data() + K * M, N, expected.data(), N, K, M, N, false);
    EXPECT_EQ(out, expected) << info(type).name;
  }
}

}  // namespace
}  // namespace trnsim::numerics
