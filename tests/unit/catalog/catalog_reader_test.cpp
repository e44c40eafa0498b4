// Mistakes in a file are told with file:line:column and the nearest known word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "catalog/gpu.h"
#include "catalog/reader.h"
#include "temporary_file.h"

namespace trnsim::catalog {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// What reading `text` as a catalogue file of a GPU complains about, from "line:column" on.
std::string complaint(const std::string& text, const Schema& schema = gpu_schema()) {
  const TemporaryFile file(text);
  try {
    Document document = read_document(file.path(), schema, Strictness::kCatalogue);
    return "nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kConfig);
    const std::string prefix = file.path().string() + ":";
    EXPECT_TRUE(error.message().starts_with(prefix)) << error.message();
    return error.message().substr(prefix.size());
  }
}

const std::string kGood =
    "peak_bf16 = { value = 1, unit = \"TFLOPS\", source = \"x\", confidence = \"guess\" }\n";

TEST(CatalogReader, a_good_file_gives_facts_with_lines) {
  const TemporaryFile file("name = \"g\"\n" + kGood);
  const Document document = read_document(file.path(), gpu_schema(), Strictness::kCatalogue);
  ASSERT_EQ(document.record.facts.size(), 1u);
  EXPECT_EQ(document.record.facts[0].path, "peak_bf16");
  EXPECT_EQ(document.record.facts[0].line, 2);
  EXPECT_EQ(document.record.facts[0].confidence, Confidence::kGuess);
}

TEST(CatalogReader, an_unknown_key_names_the_nearest) {
  EXPECT_EQ(complaint("name = \"g\"\n\npeak_bf61 = 1\n"),
            "3:1: \"peak_bf61\" is not a known key of a gpu; did you mean \"peak_bf16\"?");
}

TEST(CatalogReader, an_unknown_key_in_a_group_names_the_nearest) {
  EXPECT_EQ(complaint("name = \"c\"\n[tensor]\n  clok = 1\n", core_schema()),
            "3:3: \"tensor.clok\" is not a known key of a core; did you mean \"tensor.clock\"?");
}

TEST(CatalogReader, an_unknown_key_of_a_value_names_the_nearest) {
  EXPECT_THAT(complaint("name = \"g\"\npower = { value = 1, unti = \"W\" }\n"),
              EndsWith("\"unti\" is not a known key of a value; did you mean \"unit\"?"));
}

TEST(CatalogReader, a_wrong_unit_is_refused_with_the_right_ones) {
  EXPECT_EQ(complaint("name = \"g\"\npower = { value = 1, unit = \"GHz\", source = \"x\", "
                      "confidence = \"guess\" }\n"),
            "2:29: power is measured in W, not in \"GHz\"; use one of: W, kW, MW, GW");
}

TEST(CatalogReader, a_missing_unit_source_or_confidence_is_refused) {
  EXPECT_THAT(complaint("name = \"g\"\npower = { value = 1 }\n"),
              HasSubstr("2:9: power has no unit"));
  EXPECT_THAT(complaint("name = \"g\"\npower = { value = 1, unit = \"W\" }\n"),
              HasSubstr("power has no source"));
  EXPECT_THAT(complaint("name = \"g\"\npower = { value = 1, unit = \"W\", source = \"x\" }\n"),
              HasSubstr("power has no confidence"));
  EXPECT_THAT(complaint("name = \"g\"\npower = 700\n"),
              HasSubstr("2:9: power needs a unit, a source"));
}

TEST(CatalogReader, a_wrong_type_is_refused) {
  EXPECT_THAT(complaint("name = \"g\"\npower = { value = \"700\", unit = \"W\", source = \"x\", "
                        "confidence = \"guess\" }\n"),
              HasSubstr("2:19: power must be a number"));
  EXPECT_THAT(complaint("name = 3\n"), HasSubstr("1:8: name must be a string"));
}

TEST(CatalogReader, a_misspelt_confidence_names_the_nearest) {
  EXPECT_THAT(complaint("name = \"g\"\npower = { value = 1, unit = \"W\", source = \"x\", "
                        "confidence = \"mesured\" }\n"),
              HasSubstr("did you mean \"measured\"?"));
}

TEST(CatalogReader, an_undeclared_source_names_the_nearest) {
  EXPECT_THAT(complaint("name = \"g\"\npower = { value = 1, unit = \"W\", source = \"@giude\", "
                        "confidence = \"guess\" }\n"
                        "[sources]\nguide = \"a document\"\n"),
              HasSubstr("[sources] does not name \"giude\"; did you mean \"guide\"?"));
}

TEST(CatalogReader, short_names_of_sources_are_written_out) {
  const TemporaryFile file(
      "name = \"g\"\npower = { value = 1, unit = \"kW\", source = \"@guide, table 2; @other\", "
      "confidence = "
      "\"guess\" }\n[sources]\nguide = \"The Guide\"\nother = \"Another\"\n");
  const Document document = read_document(file.path(), gpu_schema(), Strictness::kCatalogue);
  EXPECT_EQ(document.record.facts[0].source, "The Guide, table 2; Another");
  EXPECT_EQ(std::get<double>(document.record.facts[0].value), 1000);
}

TEST(CatalogReader, broken_toml_is_told_where) {
  EXPECT_THAT(complaint("name = \"g\"\npower = = 1\n"), HasSubstr("2:"));
}

TEST(CatalogReader, a_missing_field_is_told_with_its_meaning) {
  Gpu gpu;
  const TemporaryFile file("name = \"g\"\n" + kGood);
  const Document document = read_document(file.path(), gpu_schema(), Strictness::kCatalogue);
  try {
    fill(&gpu, gpu_schema(), document.record.facts, "g.toml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.message(),
              "g.toml:1:1: memory_bandwidth is missing: bandwidth of device memory, in GB/s");
  }
}

}  // namespace
}  // namespace trnsim::catalog
