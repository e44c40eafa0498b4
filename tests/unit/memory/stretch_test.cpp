// Copies between access patterns and dense buffers.
#include "memory/stretch.h"

#include <cstring>
#include <numeric>

#include "patterns.h"

namespace trnsim::memory {
namespace {

class Stretch : public testing::Test {
 protected:
  // Storage of every byte that the patterns of these tests reach.
  std::shared_ptr<Memory> memory = small_chip();
  std::shared_ptr<Allocation> tensor = memory->allocate_hbm("h", 160);

  std::byte* place(const AccessPattern& p, const std::pair<int, std::int64_t>& at) {
    if (!p.on_chip()) return tensor->hbm.get() + at.second;
    AccessPattern origin = p;
    origin.start_partition = static_cast<std::uint16_t>(at.first);
    origin.offset = at.second;
    return memory->data(origin);
  }

  AccessPattern next(std::mt19937& random, Space space) {
    AccessPattern p = random_pattern(random, space, 8, 160);
    p.tensor = tensor->id;
    return p;
  }
};

TEST_F(Stretch, gather_takes_the_elements_of_random_patterns_in_order) {
  std::mt19937 random(23);
  for (int i = 0; i < 3000; ++i) {
    const AccessPattern p = next(random, static_cast<Space>(i % 3));
    unsigned char value = 0;
    for (const auto& byte : touched_bytes(p)) *place(p, byte) = std::byte{value++};
    std::vector<std::byte> dense(static_cast<std::size_t>(p.bytes())), expected;
    gather(*memory, p, dense.data());
    for (const auto& [row, at] : element_places(p)) {
      for (int k = 0; k < p.element_bytes(); ++k) expected.push_back(*place(p, {row, at + k}));
    }
    ASSERT_EQ(dense, expected) << "pattern " << i;
  }
}

TEST_F(Stretch, scatter_writes_what_gather_reads_and_nothing_beside_it) {
  std::mt19937 random(29);
  for (int i = 0; i < 3000; ++i) {
    const AccessPattern p = next(random, static_cast<Space>(i % 3));
    const auto touched = touched_bytes(p);
    if (touched.size() != static_cast<std::size_t>(p.bytes())) continue;  // writes a byte twice
    AccessPattern all = p.on_chip() ? rows(0, 8, 0, {{1, 160}}) : hbm(0, {{1, 160}});
    all.space = p.space;
    all.tensor = tensor->id;
    const std::vector<std::byte> blank(static_cast<std::size_t>(all.bytes()), std::byte{0xee});
    scatter(*memory, all, blank.data());
    std::vector<std::byte> dense(static_cast<std::size_t>(p.bytes())), back(dense.size());
    for (std::size_t k = 0; k < dense.size(); ++k) dense[k] = static_cast<std::byte>(k % 200);
    scatter(*memory, p, dense.data());
    gather(*memory, p, back.data());
    ASSERT_EQ(back, dense) << "pattern " << i;
    for (const auto& byte : touched_bytes(all)) {
      if (touched.contains(byte)) continue;
      ASSERT_EQ(*place(p, byte), std::byte{0xee}) << "pattern " << i;
    }
  }
}

TEST_F(Stretch, the_cursor_gives_whole_rows_where_memory_is_contiguous) {
  const auto p = rows(2, 3, 64, {{32, 2}, {4, 8}}, Dtype::kFloat32);
  StretchCursor cursor(*memory, p);
  for (int row = 0; row < 3; ++row) {
    EXPECT_EQ(cursor.left(), 64);
    EXPECT_EQ(cursor.at(), place(p, {2 + row, 64}));
    cursor.advance(64);
  }
}

TEST_F(Stretch, the_cursor_advances_within_a_stretch_and_to_the_next) {
  const auto p = rows(0, 1, 0, {{32, 2}, {4, 4}}, Dtype::kFloat32);
  StretchCursor cursor(*memory, p);
  cursor.advance(12);
  EXPECT_EQ(cursor.left(), 4);
  EXPECT_EQ(cursor.at(), place(p, {0, 12}));
  cursor.advance(4);
  EXPECT_EQ(cursor.left(), 16);
  EXPECT_EQ(cursor.at(), place(p, {0, 32}));
}

TEST_F(Stretch, the_cursor_stops_at_each_element_of_a_strided_pattern) {
  const auto p = rows(0, 1, 0, {{8, 3}}, Dtype::kBfloat16);
  StretchCursor cursor(*memory, p);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(cursor.left(), 2);
    EXPECT_EQ(cursor.at(), place(p, {0, 8 * i}));
    cursor.advance(2);
  }
}

}  // namespace
}  // namespace trnsim::memory
