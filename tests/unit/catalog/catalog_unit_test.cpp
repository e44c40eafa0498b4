#include <gtest/gtest.h>

#include "catalog/fact.h"
#include "catalog/unit.h"

namespace trnsim::catalog {
namespace {

TEST(CatalogUnit, converts_within_a_dimension) {
  EXPECT_EQ(convert(960, "MHz", "GHz"), 0.96);
  EXPECT_EQ(convert(192, "KiB", "B"), 196608);
  EXPECT_EQ(convert(2.9, "TB/s", "GB/s"), 2900);
  EXPECT_EQ(convert(23, "B/ns", "GB/s"), 23);
  EXPECT_EQ(convert(200, "Gbps", "GB/s"), 25);
  EXPECT_EQ(convert(1.5, "us", "ns"), 1500);
  EXPECT_EQ(convert(83.2, "PFLOPS", "PFLOPS"), 83.2);
}

TEST(CatalogUnit, refuses_other_dimensions_and_unknown_units) {
  EXPECT_FALSE(convert(1, "GHz", "ns"));
  EXPECT_FALSE(convert(1, "TOPS", "TFLOPS"));
  EXPECT_FALSE(convert(1, "furlong", "ns"));
}

TEST(CatalogUnit, values_print_without_noise) {
  EXPECT_EQ(value_text(2.4), "2.4");
  EXPECT_EQ(value_text(1000000.0), "1000000");
  EXPECT_EQ(value_text(13.0 / 3), "4.3333333");
  EXPECT_EQ(value_text(true), "yes");
  EXPECT_EQ(value_text(std::vector<std::string>{"a", "b"}), "a | b");
}

}  // namespace
}  // namespace trnsim::catalog
