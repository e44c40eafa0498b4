// Whether two patterns share a byte, against the sets of their bytes.
#include <algorithm>

#include "patterns.h"

namespace trnsim::memory {
namespace {

bool share_a_byte(const AccessPattern& a, const AccessPattern& b) {
  const auto in_a = touched_bytes(a), in_b = touched_bytes(b);
  return std::any_of(in_a.begin(), in_a.end(),
                     [&](const auto& byte) { return in_b.contains(byte); });
}

TEST(Overlap, is_exact_for_random_strided_patterns_on_chip_and_in_hbm) {
  for (const Space space : {Space::kSbuf, Space::kPsum, Space::kHbm}) {
    std::mt19937 random(3);
    int shared = 0;
    for (int i = 0; i < 20000; ++i) {
      const AccessPattern a = random_pattern(random, space, 4, 160);
      const AccessPattern b = random_pattern(random, space, 4, 160);
      const bool expected = share_a_byte(a, b);
      shared += expected;
      ASSERT_EQ(overlaps(a, b), expected) << "pair " << i << " of " << space_name(space);
      ASSERT_EQ(overlaps(b, a), expected) << "pair " << i << " of " << space_name(space);
    }
    EXPECT_GT(shared, 2000);  // both answers are common
    EXPECT_LT(shared, 18000);
  }
}

TEST(Overlap, is_exact_for_windows_of_the_same_grid) {
  std::mt19937 random(5);
  const auto up_to = [&](int n) { return std::uniform_int_distribution<int>(0, n)(random); };
  for (int i = 0; i < 20000; ++i) {
    const auto window = [&] {  // of an array of 6 x 8 elements of 4 bytes, every second column
      AccessPattern p = rows(0, 1, 0, {{32, 1}, {8, 1}}, Dtype::kFloat32);
      const int row = up_to(5), column = up_to(7);
      p.offset = 32 * row + 4 * column;
      p.sizes[1] = 1 + up_to(5 - row);
      p.sizes[2] = 1 + up_to((7 - column) / 2);
      return p;
    };
    const AccessPattern a = window(), b = window();
    ASSERT_EQ(overlaps(a, b), share_a_byte(a, b)) << "pair " << i;
  }
}

TEST(Overlap, large_windows_of_one_grid_are_told_apart_without_listing_their_runs) {
  const auto left = rows(0, 128, 0, {{4096, 10000}, {8, 200}}, Dtype::kFloat32);
  const auto right = rows(0, 128, 2048, {{4096, 10000}, {8, 200}}, Dtype::kFloat32);
  const auto middle = rows(0, 128, 1024, {{4096, 10000}, {8, 200}}, Dtype::kFloat32);
  EXPECT_FALSE(overlaps(left, right));
  EXPECT_TRUE(overlaps(left, middle));
}

TEST(Overlap, of_more_runs_than_are_listed_errs_towards_true) {
  const auto even = rows(0, 1, 0, {{8, 5000}}, Dtype::kFloat32);
  const auto odd_halves = rows(0, 1, 4, {{8, 5000}}, Dtype::kBfloat16);
  EXPECT_TRUE(overlaps(even, odd_halves));
}

TEST(Overlap, other_partitions_memories_and_hbm_tensors_are_apart) {
  EXPECT_FALSE(overlaps(rows(0, 4, 0, {{1, 8}}), rows(4, 4, 0, {{1, 8}})));
  EXPECT_TRUE(overlaps(rows(0, 5, 0, {{1, 8}}), rows(4, 4, 0, {{1, 8}})));
  AccessPattern psum = rows(0, 4, 0, {{1, 8}});
  psum.space = Space::kPsum;
  EXPECT_FALSE(overlaps(rows(0, 4, 0, {{1, 8}}), psum));
  EXPECT_FALSE(overlaps(hbm(0, {{1, 8}}), hbm(0, {{1, 8}}, Dtype::kUint8, 2)));
  EXPECT_TRUE(overlaps(hbm(0, {{1, 8}}), hbm(7, {{1, 8}})));
}

TEST(Walk, merges_dimensions_that_follow_one_another_in_memory) {
  const Walk whole = walk_of(rows(0, 2, 0, {{48, 2}, {16, 3}, {4, 4}}, Dtype::kFloat32));
  EXPECT_TRUE(whole.contiguous(4));
  EXPECT_EQ(whole.inner_size(), 24);
  const Walk part = walk_of(rows(0, 2, 0, {{48, 2}, {16, 3}, {4, 3}}, Dtype::kFloat32));
  EXPECT_EQ(part.dims, 2);
  EXPECT_EQ(part.sizes[0], 6);
  EXPECT_FALSE(part.contiguous(4));
  const Walk one = walk_of(rows(0, 2, 0, {{48, 1}, {16, 1}}, Dtype::kFloat32));
  EXPECT_TRUE(one.contiguous(4));
}

TEST(Walk, the_runs_of_random_patterns_are_their_elements_in_order) {
  std::mt19937 random(13);
  for (int i = 0; i < 2000; ++i) {
    const AccessPattern p = random_pattern(random, Space::kHbm, 1, 160);
    const Walk walk = walk_of(p);
    std::vector<std::pair<int, std::int64_t>> places;
    for_each_run(walk, p.offset, [&](std::int64_t start) {
      for (std::int64_t k = 0; k < walk.inner_size(); ++k)
        places.emplace_back(0, start + k * walk.inner_stride());
    });
    ASSERT_EQ(places, element_places(p)) << "pattern " << i;
  }
}

TEST(Extent, reaches_from_the_lowest_to_the_highest_byte_of_random_patterns) {
  std::mt19937 random(17);
  for (int i = 0; i < 2000; ++i) {
    const AccessPattern p = random_pattern(random, i % 2 ? Space::kHbm : Space::kSbuf, 4, 160);
    std::int64_t low = 160, high = 0;
    for (const auto& [row, at] : touched_bytes(p)) {
      low = std::min(low, at);
      high = std::max(high, at + 1);
    }
    ASSERT_EQ(extent_of(p).low, low);
    ASSERT_EQ(extent_of(p).high, high);
  }
}

TEST(Pattern, the_inner_stride_is_that_of_the_last_dimension_with_more_than_one_element) {
  EXPECT_EQ(rows(0, 4, 0, {{64, 2}, {8, 3}, {4, 1}}, Dtype::kFloat32).inner_stride(), 8);
  EXPECT_EQ(rows(0, 4, 0, {{64, 1}}, Dtype::kFloat32).inner_stride(), 4);
  EXPECT_EQ(hbm(0, {{64, 2}, {8, 1}}, Dtype::kFloat32).inner_stride(), 64);
}

}  // namespace
}  // namespace trnsim::memory
