// Max-min fairness by hand: who gets how much, and when who ends.
#include "fabric/sharing.h"

#include <gtest/gtest.h>

namespace trnsim::fabric {
namespace {

constexpr std::int64_t kGiga = 1'000'000'000;  // 1 GB/s is a byte per nanosecond

TEST(FairShares, one_transfer_takes_bytes_over_rate) {
  FairShares shares;
  const int link = shares.add_resource(kGiga);
  shares.start(1000, {{link, 1}});
  EXPECT_EQ(shares.next_end(), 1'000'000);  // picoseconds
}

TEST(FairShares, fractions_of_picoseconds_are_rounded_up) {
  FairShares shares;
  const int link = shares.add_resource(3 * kGiga);
  shares.start(1, {{link, 1}});
  EXPECT_EQ(shares.next_end(), 334);
}

TEST(FairShares, two_transfers_halve_a_link_until_the_shorter_ends) {
  FairShares shares;
  const int link = shares.add_resource(kGiga);
  shares.start(100, {{link, 1}});
  shares.start(300, {{link, 1}});
  std::vector<int> ended;
  ASSERT_EQ(shares.next_end(), 200'000);
  shares.advance(200'000, &ended);
  EXPECT_EQ(ended, std::vector<int>{0});
  EXPECT_EQ(shares.next_end(), 400'000);  // 200 bytes are left and the link is its own
}

TEST(FairShares, what_a_full_link_denies_goes_to_the_others) {
  FairShares shares;
  const int narrow = shares.add_resource(kGiga), wide = shares.add_resource(10 * kGiga);
  shares.start(1000, {{narrow, 1}, {wide, 1}});  // 1 GB/s
  shares.start(9000, {{wide, 1}});               // the other 9
  EXPECT_EQ(shares.next_end(), 1'000'000);
  std::vector<int> ended;
  shares.advance(1'000'000, &ended);
  EXPECT_EQ(ended, (std::vector<int>{0, 1}));
}

TEST(FairShares, touching_a_memory_twice_counts_twice) {
  FairShares shares;
  const int memory = shares.add_resource(3 * kGiga);
  shares.start(1000, {{memory, 2}});
  shares.start(1000, {{memory, 1}});
  EXPECT_EQ(shares.next_end(), 1'000'000);  // 3 accesses per byte at the same rate of 1 GB/s
}

TEST(FairShares, a_transfer_over_nothing_takes_no_time) {
  FairShares shares;
  shares.start(1000, {});
  EXPECT_EQ(shares.next_end(), 0);
}

TEST(FairShares, equal_resources_give_equal_rates_whatever_rounds) {
  FairShares shares;  // 10 over 3 leaves a remainder, which nobody may get
  const int left = shares.add_resource(10), right = shares.add_resource(10);
  for (int i = 0; i < 3; ++i) shares.start(30, {{left, 1}, {right, 1}});
  EXPECT_EQ(shares.next_end(), 10'000'000'000'000);
  std::vector<int> ended;
  shares.advance(10'000'000'000'000, &ended);
  EXPECT_EQ(ended.size(), 3u);
}

}  // namespace
}  // namespace trnsim::fabric
