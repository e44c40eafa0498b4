#include "numerics/random.h"

#include <gtest/gtest.h>

namespace trnsim::numerics {
namespace {

TEST(Xorwow, follows_the_published_example) {
  // Marsaglia 2003, section 3.1: his initial words and the recurrence; the first output worked out
  // by hand.
  Xorwow generator(Xorwow::State{123456789, 362436069, 521288629, 88675123, 5783321, 6615241});
  const std::uint32_t t = 123456789u ^ (123456789u >> 2);
  const std::uint32_t v = (5783321u ^ (5783321u << 4)) ^ (t ^ (t << 1));
  EXPECT_EQ(generator.next(), v + 6615241u + 362437u);
  EXPECT_EQ(generator.state(),
            (Xorwow::State{362436069, 521288629, 88675123, 5783321, v, 6615241u + 362437u}));
}

TEST(Xorwow, seeds_give_repeatable_and_different_streams) {
  EXPECT_EQ(Xorwow(5).next(), Xorwow(5).next());
  EXPECT_NE(Xorwow(5).next(), Xorwow(6).next());
}

TEST(UnitFloat, stays_below_one) {
  EXPECT_EQ(unit_float(0), 0.0f);
  EXPECT_LT(unit_float(0xffffffffu), 1.0f);
}

}  // namespace
}  // namespace trnsim::numerics
