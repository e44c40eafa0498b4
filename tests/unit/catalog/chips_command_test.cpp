// trnsim chips: list, show, diff, as text and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "cli/chips.h"

namespace trnsim::cli {
namespace {

using testing::HasSubstr;

std::string run(const std::string& arguments) {
  std::ostringstream out, err;
  CLI::App app;
  add_chips_command(app, Context{"hardware", out, err});
  app.parse(arguments);
  return out.str();
}

TEST(ChipsCommand, lists_everything) {
  const std::string text = run("chips");
  for (const char* name : {"trainium2", "neuroncore_v3", "trn2.48xlarge", "trn2_ultraserver",
                           "project_rainier", "h100"})
    EXPECT_THAT(text, HasSubstr(name));
}

TEST(ChipsCommand, shows_values_with_unit_confidence_and_source) {
  const std::string text = run("chips show trn2");
  EXPECT_THAT(text, HasSubstr("[core.tensor]\n"));
  EXPECT_THAT(text, HasSubstr("2.4 GHz              documented\n"));
  EXPECT_THAT(text, HasSubstr("from aws-neuron-sdk: nki/guides/architecture/trainium2_arch.rst"));
}

TEST(ChipsCommand, fits_a_hundred_columns) {
  for (const char* command :
       {"chips", "chips show trn2", "chips show p5.48xlarge", "chips diff trn1 trn3",
        "chips diff v1 v4", "chips show project_rainier"}) {
    std::istringstream lines(run(command));
    for (std::string line; std::getline(lines, line);)
      if (line.find('/') == std::string::npos) {
        EXPECT_LE(line.size(), 100u) << command << ": " << line;
      }
  }
}

TEST(ChipsCommand, diff_lists_only_what_differs) {
  const std::string text = run("chips diff trn2 trn2");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_THAT(run("chips diff trn2 trn3"), HasSubstr("hbm"));
}

TEST(ChipsCommand, a_user_file_stands_for_a_name) {
  const auto json =
      nlohmann::json::parse(run("chips diff examples/two_trainium1.toml trn1 --json"));
  EXPECT_EQ(json["left"]["name"], "two_trainium1");
  EXPECT_EQ(json["differences"][0]["path"], "cores");
  EXPECT_EQ(json["differences"][0]["left"]["value"], 4);
  EXPECT_EQ(json["differences"][0]["left"]["source"], "user file");
}

TEST(ChipsCommand, json_repeats_byte_for_byte_and_holds_alternatives) {
  const std::string text = run("chips show trainium2 --json");
  EXPECT_EQ(text, run("chips show trainium2 --json"));
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["facts"]["hbm.bandwidth"]["value"], 2900);
  EXPECT_EQ(json["facts"]["hbm.bandwidth"]["alternatives"][0]["value"], 3000);
  EXPECT_FALSE(nlohmann::json::parse(run("chips --json")).empty());
}

TEST(ChipsCommand, refuses_to_compare_different_kinds) {
  EXPECT_THROW(run("chips diff trn2 h100"), Error);
  EXPECT_THROW(run("chips show nothing_like_it"), Error);
}

}  // namespace
}  // namespace trnsim::cli
