// Where tiles go that have no address of their own.
#include "memory/placement.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace trnsim::memory {
namespace {

TEST(Placement, tiles_follow_one_another_at_multiples_of_32_bytes) {
  Placement sbuf(1024, 0);
  EXPECT_EQ(sbuf.place(100), 0);
  EXPECT_EQ(sbuf.place(1), 128);
  EXPECT_EQ(sbuf.place(32), 160);
  EXPECT_EQ(sbuf.place(32), 192);
}

TEST(Placement, freed_space_is_reused_only_after_the_rest_was_used) {
  Placement sbuf(128, 0);
  EXPECT_EQ(sbuf.place(32), 0);
  sbuf.release(0, 32);
  EXPECT_EQ(sbuf.place(32), 32);
  EXPECT_EQ(sbuf.place(32), 64);
  EXPECT_EQ(sbuf.place(32), 96);
  EXPECT_EQ(sbuf.place(32), 0);
  EXPECT_EQ(sbuf.place(32), std::nullopt);
}

TEST(Placement, a_gap_behind_the_last_tile_is_found_when_nothing_fits_ahead) {
  Placement sbuf(256, 0);
  for (int i = 0; i < 3; ++i) sbuf.place(64);
  sbuf.release(0, 64);
  sbuf.release(64, 64);
  EXPECT_EQ(sbuf.place(128), 0);
  EXPECT_EQ(sbuf.place(64), 192);
}

TEST(Placement, two_gaps_do_not_make_one_large_one) {
  Placement sbuf(128, 0);
  for (int i = 0; i < 4; ++i) sbuf.place(32);
  sbuf.release(0, 32);
  sbuf.release(64, 32);
  EXPECT_EQ(sbuf.used(), 64);
  EXPECT_EQ(sbuf.place(64), std::nullopt);
  EXPECT_EQ(sbuf.place(32), 0);
  EXPECT_EQ(sbuf.place(32), 64);
}

TEST(Placement, the_whole_memory_is_one_tile_and_one_byte_more_is_none) {
  Placement sbuf(1000, 0);
  EXPECT_EQ(sbuf.place(1001), std::nullopt);
  EXPECT_EQ(sbuf.place(1000), 0);
  EXPECT_EQ(sbuf.place(1), std::nullopt);
}

TEST(Placement, each_psum_tile_starts_at_the_next_bank) {
  Placement psum(512, 128);
  EXPECT_EQ(psum.place(32), 0);
  EXPECT_EQ(psum.place(32), 128);
  EXPECT_EQ(psum.place(128), 256);
  EXPECT_EQ(psum.place(32), 384);
}

TEST(Placement, once_each_bank_has_a_tile_the_rooms_behind_them_are_used) {
  Placement psum(256, 128);
  EXPECT_EQ(psum.place(96), 0);
  EXPECT_EQ(psum.place(96), 128);
  EXPECT_EQ(psum.place(32), 96);
  EXPECT_EQ(psum.place(32), 224);
}

TEST(Placement, no_tile_of_at_most_a_bank_straddles_two) {
  Placement psum(256, 128);
  psum.occupy(0, 64);
  psum.occupy(192, 64);
  EXPECT_EQ(psum.place(96), std::nullopt);  // 64 to 160 is free, but in two banks
  EXPECT_EQ(psum.place(64), 64);
  EXPECT_EQ(psum.place(64), 128);
}

TEST(Placement, a_tile_larger_than_a_bank_starts_at_a_bank) {
  Placement psum(512, 128);
  psum.occupy(0, 32);
  EXPECT_EQ(psum.place(256), 128);
  EXPECT_EQ(psum.place(160), std::nullopt);
}

TEST(Placement, explicit_addresses_are_avoided_even_when_they_overlap_each_other) {
  Placement sbuf(512, 0);
  sbuf.occupy(0, 256);
  sbuf.occupy(32, 32);
  sbuf.occupy(128, 192);
  EXPECT_EQ(sbuf.place(64), 320);
  sbuf.release(0, 256);
  EXPECT_EQ(sbuf.place(128), 384);
  EXPECT_EQ(sbuf.place(64), 64);
}

TEST(Placement, of_two_tiles_at_one_address_the_one_of_that_size_is_released) {
  Placement sbuf(256, 0);
  sbuf.occupy(0, 128);
  sbuf.occupy(0, 64);
  sbuf.release(0, 128);
  EXPECT_EQ(sbuf.used(), 64);
  EXPECT_EQ(sbuf.place(64), 64);
}

TEST(Placement, the_peak_is_the_most_bytes_that_were_ever_taken_at_once) {
  Placement sbuf(256, 0);
  sbuf.place(96);
  sbuf.place(64);
  sbuf.release(0, 96);
  sbuf.place(32);
  EXPECT_EQ(sbuf.used(), 96);
  EXPECT_EQ(sbuf.peak(), 160);
}

// Places and releases at random: a tile never lies over a live one and keeps the bank rule.
TEST(Placement, live_tiles_never_overlap_and_keep_the_bank_rule) {
  for (const std::int64_t bank : {0, 128}) {
    std::mt19937 random(7);
    Placement placement(1024, bank);
    std::vector<std::pair<std::int64_t, std::int64_t>> live;
    for (int i = 0; i < 5000; ++i) {
      if (!live.empty() && random() % 2 == 0) {
        const std::size_t victim = random() % live.size();
        placement.release(live[victim].first, live[victim].second);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
        continue;
      }
      const auto bytes = static_cast<std::int64_t>(1 + random() % 200);
      const auto at = placement.place(bytes);
      if (!at) continue;
      ASSERT_EQ(*at % 32, 0);
      ASSERT_LE(*at + bytes, 1024);
      if (bank != 0) {
        const bool straddles = *at / bank != (*at + bytes - 1) / bank;
        ASSERT_TRUE(!straddles || (bytes > bank && *at % bank == 0));
      }
      for (const auto& [offset, size] : live)
        ASSERT_TRUE(*at + bytes <= offset || offset + size <= *at);
      live.emplace_back(*at, bytes);
    }
    std::int64_t used = 0;
    for (const auto& [offset, size] : live) used += size;
    EXPECT_EQ(placement.used(), used);
  }
}

}  // namespace
}  // namespace trnsim::memory
