// Errors, the nearest name, and time.
#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "base/nearest.h"
#include "base/units.h"

namespace trnsim {
namespace {

template <class Call>
Error thrown(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return {Fault::kInternal, "nothing was thrown"};
}

TEST(Error, of_a_program_names_its_rule) {
  const Error error = thrown([] { program_error("max8.slots", "{} slots", 9); });
  EXPECT_EQ(error.fault(), Fault::kProgram);
  EXPECT_EQ(error.rule(), "max8.slots");
  EXPECT_STREQ(error.what(), "9 slots");
}

TEST(Error, says_whose_fault_it_is) {
  EXPECT_EQ(thrown([] { unsupported("x"); }).fault(), Fault::kUnsupported);
  EXPECT_EQ(thrown([] { config_error("x"); }).fault(), Fault::kConfig);
  const Error internal = thrown([] { internal_error("{} went wrong", "x"); });
  EXPECT_EQ(internal.fault(), Fault::kInternal);
  EXPECT_NE(internal.message().find("x went wrong. This is a defect of trnsim"), std::string::npos);
  EXPECT_EQ(internal.rule(), "");
}

TEST(Error, kinds_have_the_names_of_the_python_classes) {
  constexpr std::array kNames{"ProgramError", "Unsupported", "Unimplemented",
                              "MissingSpec",  "ConfigError", "InternalError"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    EXPECT_EQ(fault_name(static_cast<Fault>(i)), kNames[i]);
}

TEST(NearestName, finds_the_name_with_the_fewest_typing_errors) {
  const std::vector<std::string> known{"tensor_copy", "tensor_tensor", "memset"};
  EXPECT_EQ(nearest_name("tensor_cpoy", known), "tensor_copy");
  EXPECT_EQ(nearest_name("tensor_tenso", known), "tensor_tensor");
  EXPECT_EQ(nearest_name("memset", known), "memset");
}

TEST(NearestName, proposes_nothing_that_is_far_from_what_was_typed) {
  const std::vector<std::string> known{"tensor_copy"};
  EXPECT_EQ(nearest_name("dropout", known), "");
  EXPECT_EQ(nearest_name("anything", {}), "");
}

TEST(NearestName, of_equally_near_names_the_first_is_taken) {
  EXPECT_EQ(nearest_name("trn0", std::vector<std::string>{"trn1", "trn2"}), "trn1");
}

TEST(Picoseconds, round_to_the_nearest) {
  EXPECT_EQ(from_ns(1.2346).count, 1235);
  EXPECT_EQ(from_cycles(1, 1.4).count, 714);
  EXPECT_EQ(from_cycles(1400, 1.4).count, 1000000);
}

TEST(Picoseconds, add_compare_and_convert) {
  Picoseconds time = from_ns(2) + from_ns(3) - from_ns(1);
  time += from_ns(6);
  EXPECT_EQ(time, from_ns(10));
  EXPECT_LT(from_ns(9), time);
  EXPECT_DOUBLE_EQ(time.us(), 0.01);
  EXPECT_DOUBLE_EQ(time.ns(), 10);
}

}  // namespace
}  // namespace trnsim
