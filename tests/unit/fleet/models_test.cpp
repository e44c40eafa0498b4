// Published models: parameter counts equal to the published ones, and configs that are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "fleet/families.h"
#include "fleet/presets.h"

namespace trnsim::fleet {
namespace {

using testing::HasSubstr;

TEST(Models, parameter_counts_equal_the_published_ones) {
  const std::vector<Preset> presets = load_presets("models");
  ASSERT_GT(presets.size(), 50u);
  for (const Preset& preset : presets) {
    const auto counted = static_cast<double>(parameters(preset.model).total());
    if (preset.exact)
      EXPECT_EQ(counted, preset.published) << preset.model.name;
    else  // published as a rounded figure
      EXPECT_NEAR(counted / preset.published, 1, 0.025) << preset.model.name;
  }
}

// Some publications count the table of embeddings as active, others do not.
TEST(Models, active_parameters_are_those_of_the_chosen_experts) {
  for (const Preset& preset : load_presets("models")) {
    if (!preset.active) continue;
    const Parameters counted = parameters(preset.model);
    const double without = static_cast<double>(counted.active) / *preset.active - 1;
    const double with =
        static_cast<double>(counted.active + counted.embedding) / *preset.active - 1;
    EXPECT_LT(std::min(std::abs(without), std::abs(with)), 0.05) << preset.model.name;
  }
}

TEST(Models, of_a_dense_model_everything_but_the_table_of_embeddings_is_active) {
  const Parameters untied = parameters(find_model("llama3-8b", "models"));
  EXPECT_EQ(untied.active, untied.total() - untied.embedding);
  const Parameters tied = parameters(find_model("gemma-2b", "models"));
  EXPECT_EQ(tied.active, tied.total());
}

TEST(Models, every_family_has_a_published_model) {
  std::vector<std::string> seen;
  for (const Preset& preset : load_presets("models")) seen.push_back(preset.model.family);
  for (const Family& family : families()) {
    if (family.model_type == "llama4" || family.model_type == "gemma3") continue;  // wrappers
    EXPECT_THAT(seen, testing::Contains(family.model_type));
  }
}

TEST(Models, names_go_without_regard_to_case_and_underscores) {
  EXPECT_EQ(find_model("GPT3", "models").name, "gpt3-175b");
  EXPECT_EQ(find_model("Llama_3.1_405B", "models").name, "llama3.1-405b");
}

std::string refusal(nlohmann::json json) {
  try {
    read_model(Config(json, "config.json"));
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kConfig);
    return error.message();
  }
  return "accepted";
}

nlohmann::json llama() {
  return {{"model_type", "llama"},  {"hidden_size", 512},       {"intermediate_size", 1024},
          {"num_hidden_layers", 4}, {"num_attention_heads", 8}, {"num_key_value_heads", 2},
          {"vocab_size", 1000}};
}

nlohmann::json with(const char* key, nlohmann::json value) {
  nlohmann::json json = llama();
  json[key] = std::move(value);
  return json;
}

TEST(Models, an_unknown_architecture_is_refused_with_the_nearest) {
  EXPECT_THAT(refusal(with("model_type", "lama")), HasSubstr("nearest: \"llama\""));
  EXPECT_THAT(refusal(with("model_type", "mamba")), HasSubstr("\"mamba\" is not known"));
  nlohmann::json untyped = llama();
  untyped.erase("model_type");
  EXPECT_THAT(refusal(untyped), HasSubstr("model_type is missing"));
}

TEST(Models, keys_that_are_missing_or_make_no_sense_are_named) {
  nlohmann::json json = llama();
  json.erase("vocab_size");
  EXPECT_THAT(refusal(json), HasSubstr("vocab_size is missing"));
  EXPECT_THAT(refusal(with("num_hidden_layers", 0)), HasSubstr("num_hidden_layers is 0"));
  EXPECT_THAT(refusal(with("hidden_size", "wide")), HasSubstr("hidden_size is \"wide\""));
  EXPECT_THAT(refusal(with("num_hidden_layers", -3)), HasSubstr("-3"));
  EXPECT_THAT(refusal(with("hidden_size", 1.5)), HasSubstr("whole number"));
  EXPECT_THAT(refusal(with("num_key_value_heads", 3)), HasSubstr("do not divide"));
  EXPECT_THAT(refusal(with("num_attention_heads", 7)), HasSubstr("nearest: 4 heads"));
  EXPECT_THAT(refusal(with("tie_word_embeddings", 3)), HasSubstr("true or false"));
}

TEST(Models, an_unknown_name_is_refused_with_the_nearest) {
  try {
    find_model("lama3-8b", "models");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("did you mean \"llama3-8b\"?"));
  }
}

}  // namespace
}  // namespace trnsim::fleet
