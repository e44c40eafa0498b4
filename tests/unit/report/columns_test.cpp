#include "report/columns.h"

#include <gtest/gtest.h>

#include <array>

namespace trnsim::report {
namespace {

constexpr std::array<std::uint32_t, 1> kOneGroup{0};

std::string bytes(std::initializer_list<int> list) {
  std::string text;
  for (const int byte : list) text += static_cast<char>(byte);
  return text;
}

TEST(Columns, base64_pads_to_four_characters) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");  // the examples of RFC 4648
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(bytes({0xfb, 0xff})), "+/8=");
}

TEST(Columns, what_was_predicted_is_a_stretch_of_zeros) {
  const std::array<std::int64_t, 5> same{7, 7, 7, 7, 6};
  EXPECT_EQ(column(same, kOneGroup, Predicted::kSame), base64(bytes({14, 0, 2, 1})));
  const std::array<std::int64_t, 5> steady{100, 110, 120, 130, 141};
  EXPECT_EQ(column(steady, kOneGroup, Predicted::kSteady), base64(bytes({200, 1, 20, 0, 1, 2})));
}

TEST(Columns, every_group_begins_anew) {
  const std::array<std::int64_t, 4> values{3, 5, 3, 5};
  const std::array<std::uint32_t, 2> starts{0, 2};
  EXPECT_EQ(column(values, starts, Predicted::kSteady), base64(bytes({6, 4, 6, 4})));
}

TEST(Columns, large_and_negative_numbers_take_as_many_digits_as_they_need) {
  const std::array<std::int64_t, 2> values{-(std::int64_t{1} << 40), 0};
  EXPECT_EQ(column(values, kOneGroup, Predicted::kSame),
            base64(bytes({255, 255, 255, 255, 255, 63, 128, 128, 128, 128, 128, 64})));
  EXPECT_EQ(column({}, {}, Predicted::kSame), "");
}

TEST(Columns, a_loop_of_places_is_free_after_its_first_round) {
  const std::array<std::uint32_t, 8> places{0, 1, 2, 0, 1, 2, 0, 1};
  // 0 was the guess from the start; 1 and 2 are new; the way back to 0 is again a guess; then all
  // hit.
  EXPECT_EQ(sequence_column(places), base64(bytes({0, 0, 4, 6, 0, 4})));
}

}  // namespace
}  // namespace trnsim::report
