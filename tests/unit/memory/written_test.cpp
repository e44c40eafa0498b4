// Which bytes count as written.
#include "memory/written.h"

#include "patterns.h"

namespace trnsim::memory {
namespace {

void expect_missing(const std::optional<WrittenMap::Position>& missing, int row,
                    std::int64_t byte) {
  ASSERT_TRUE(missing.has_value());
  EXPECT_EQ(missing->row, row);
  EXPECT_EQ(missing->byte, byte);
}

TEST(WrittenMap, is_empty_at_first) {
  const WrittenMap map(4, 100);
  EXPECT_TRUE(map.none());
  EXPECT_FALSE(map.all());
  expect_missing(map.first_unwritten(rows(0, 4, 0, {{1, 100}}), 0, 0), 0, 0);
  EXPECT_FALSE(map.any_written(rows(0, 4, 0, {{1, 100}}), 0, 0));
}

TEST(WrittenMap, a_dense_write_of_everything_is_one_flag) {
  WrittenMap map(4, 100);
  map.mark(rows(0, 4, 0, {{1, 100}}), 0, 0);
  EXPECT_TRUE(map.all());
  EXPECT_FALSE(map.first_unwritten(rows(1, 2, 7, {{3, 20}}), 0, 0).has_value());
  EXPECT_TRUE(map.any_written(rows(3, 1, 99, {{1, 1}}), 0, 0));
}

TEST(WrittenMap, the_first_missing_byte_is_named_in_element_order) {
  WrittenMap map(4, 200);
  map.mark(rows(0, 4, 0, {{1, 130}}), 0, 0);
  expect_missing(map.first_unwritten(rows(0, 4, 0, {{1, 200}}), 0, 0), 0, 130);
  expect_missing(map.first_unwritten(rows(2, 1, 120, {{4, 5}}, Dtype::kFloat32), 0, 0), 2, 130);
  EXPECT_FALSE(map.first_unwritten(rows(1, 3, 126, {{1, 4}}), 0, 0).has_value());
}

TEST(WrittenMap, a_missing_row_is_named) {
  WrittenMap map(4, 16);
  map.mark(rows(0, 2, 0, {{1, 16}}), 0, 0);
  map.mark(rows(3, 1, 0, {{1, 16}}), 0, 0);
  expect_missing(map.first_unwritten(rows(0, 4, 0, {{1, 16}}), 0, 0), 2, 0);
  map.mark(rows(2, 1, 0, {{1, 16}}), 0, 0);
  EXPECT_TRUE(map.all());
}

TEST(WrittenMap, interleaved_writes_complete_each_other) {
  WrittenMap map(2, 16);
  map.mark(rows(0, 2, 0, {{4, 4}}, Dtype::kBfloat16), 0, 0);
  expect_missing(map.first_unwritten(rows(0, 2, 0, {{1, 16}}), 0, 0), 0, 2);
  EXPECT_FALSE(map.first_unwritten(rows(0, 2, 0, {{4, 4}}, Dtype::kBfloat16), 0, 0).has_value());
  EXPECT_FALSE(map.all());
  map.mark(rows(0, 2, 2, {{4, 4}}, Dtype::kBfloat16), 0, 0);
  EXPECT_TRUE(map.all());
}

TEST(WrittenMap, writing_a_byte_twice_counts_once) {
  WrittenMap map(1, 4);
  map.mark(rows(0, 1, 0, {{0, 4}}), 0, 0);
  map.mark(rows(0, 1, 0, {{1, 1}}), 0, 0);
  EXPECT_FALSE(map.all());
  expect_missing(map.first_unwritten(rows(0, 1, 0, {{1, 4}}), 0, 0), 0, 1);
}

TEST(WrittenMap, clearing_part_of_a_full_map_leaves_the_rest) {
  WrittenMap map(2, 100);
  map.mark(rows(0, 2, 0, {{1, 100}}), 0, 0);
  map.clear(rows(1, 1, 64, {{1, 3}}), 0, 0);
  EXPECT_FALSE(map.all());
  EXPECT_FALSE(map.first_unwritten(rows(0, 1, 0, {{1, 100}}), 0, 0).has_value());
  EXPECT_FALSE(map.first_unwritten(rows(1, 1, 0, {{1, 64}}), 0, 0).has_value());
  EXPECT_FALSE(map.first_unwritten(rows(1, 1, 67, {{1, 33}}), 0, 0).has_value());
  expect_missing(map.first_unwritten(rows(0, 2, 0, {{1, 100}}), 0, 0), 1, 64);
  map.mark(rows(1, 1, 64, {{1, 3}}), 0, 0);
  EXPECT_TRUE(map.all());
}

TEST(WrittenMap, clearing_an_empty_map_costs_nothing) {
  WrittenMap map(2, 100);
  map.clear(rows(0, 2, 0, {{1, 100}}), 0, 0);
  EXPECT_TRUE(map.none());
}

TEST(WrittenMap, any_written_sees_a_single_byte) {
  WrittenMap map(2, 256);
  map.mark(rows(1, 1, 200, {{1, 1}}), 0, 0);
  EXPECT_TRUE(map.any_written(rows(0, 2, 0, {{1, 256}}), 0, 0));
  EXPECT_TRUE(map.any_written(rows(1, 1, 192, {{8, 2}}), 0, 0));
  EXPECT_FALSE(map.any_written(rows(1, 1, 193, {{8, 2}}), 0, 0));
  EXPECT_FALSE(map.any_written(rows(0, 1, 0, {{1, 256}}), 0, 0));
}

TEST(WrittenMap, a_pattern_is_taken_relative_to_the_maps_origin) {
  WrittenMap map(2, 64);  // a tile of partitions 32 and 33 at byte 512
  map.mark(rows(33, 1, 512 + 16, {{1, 48}}), 32, 512);
  expect_missing(map.first_unwritten(rows(33, 1, 512 + 8, {{1, 32}}), 32, 512), 1, 8);
  EXPECT_FALSE(map.first_unwritten(rows(33, 1, 512 + 16, {{1, 48}}), 32, 512).has_value());
}

TEST(WrittenMap, all_dimensions_of_an_hbm_tensor_lie_in_one_row) {
  WrittenMap map(1, 24);
  map.mark(hbm(0, {{8, 3}, {1, 4}}), 0, 0);
  expect_missing(map.first_unwritten(hbm(0, {{8, 3}, {1, 8}}), 0, 0), 0, 4);
  map.mark(hbm(4, {{8, 3}, {1, 4}}), 0, 0);
  EXPECT_TRUE(map.all());
}

TEST(WrittenMap, agrees_with_a_set_of_bytes_over_random_writes_and_clears) {
  for (const Space space : {Space::kSbuf, Space::kHbm}) {
    std::mt19937 random(11);
    const int parts = space == Space::kHbm ? 1 : 3;
    for (int round = 0; round < 100; ++round) {
      WrittenMap map(parts, 150);
      std::set<std::pair<int, std::int64_t>> bytes;
      for (int i = 0; i < 20; ++i) {
        const AccessPattern p = random_pattern(random, space, parts, 150);
        const auto touched = touched_bytes(p);
        const auto op = random() % 4;
        if (op == 0) {
          map.clear(p, 0, 0);
          for (const auto& byte : touched) bytes.erase(byte);
        } else if (op < 3) {
          map.mark(p, 0, 0);
          bytes.insert(touched.begin(), touched.end());
        }
        const AccessPattern q = random_pattern(random, space, parts, 150);
        std::size_t written = 0;
        const auto asked = touched_bytes(q);
        for (const auto& byte : asked) written += bytes.count(byte);
        const auto missing = map.first_unwritten(q, 0, 0);
        ASSERT_EQ(missing.has_value(), written != asked.size());
        if (missing) {
          ASSERT_TRUE(asked.contains({missing->row, missing->byte}));
          ASSERT_FALSE(bytes.contains({missing->row, missing->byte}));
        }
        ASSERT_EQ(map.any_written(q, 0, 0), written != 0);
        ASSERT_EQ(map.all(), bytes.size() == static_cast<std::size_t>(parts) * 150);
      }
    }
  }
}

}  // namespace
}  // namespace trnsim::memory
