// trnsim isa: list and detail, as text and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "command.h"

namespace trnsim::cli {
namespace {

using testing::HasSubstr;

TEST(IsaCommand, lists_engines_generations_costs_and_sources) {
  const Outcome outcome = command({"isa"});
  EXPECT_EQ(outcome.code, 0);
  for (const char* part :
       {"nc_matmul\n", "engines: Tensor; every generation", "cost: ", "source: "}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(IsaCommand, shows_the_arguments_of_one) {
  const Outcome outcome = command({"isa", "nc_matmul"});
  EXPECT_THAT(outcome.out, HasSubstr("stationary"));
  EXPECT_THAT(outcome.out, HasSubstr("written"));
  EXPECT_THAT(outcome.out, HasSubstr("optional"));
}

TEST(IsaCommand, json_holds_the_same) {
  const auto list = nlohmann::json::parse(command({"isa", "--json"}).out);
  const auto one = nlohmann::json::parse(command({"isa", "nc_matmul", "--json"}).out);
  EXPECT_EQ(one["name"], "nc_matmul");
  EXPECT_EQ(one["arguments"][0]["name"], "dst");
  EXPECT_NE(std::find(list.begin(), list.end(), one), list.end());
}

TEST(IsaCommand, an_unknown_instruction_names_the_nearest_one) {
  const Outcome outcome = command({"isa", "nc_matmull"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("did you mean nc_matmul?"));
}

}  // namespace
}  // namespace trnsim::cli
