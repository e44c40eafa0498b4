// A user's own chip: derived from another, with any figure changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "catalog/catalog.h"
#include "temporary_file.h"

namespace trnsim::catalog {
namespace {

using testing::HasSubstr;

const Catalog& hardware() {
  static const Catalog kCatalog = load("hardware");
  return kCatalog;
}

TEST(CatalogUserFile, states_only_what_differs) {
  const TemporaryFile file(
      "name = \"mine\"\nbase = \"trn2\"\ncores = 16\n[hbm]\nbandwidth = { value = 6, unit = "
      "\"TB/s\" }\n"
      "[core.tensor]\nclock = { value = 3000, unit = \"MHz\" }\n");
  const Chip chip = load_chip_file(file.path(), hardware());
  EXPECT_EQ(chip.name, "mine");
  EXPECT_EQ(chip.cores, 16);
  EXPECT_EQ(chip.hbm.bandwidth, 6000);
  EXPECT_EQ(chip.core.tensor.clock, 3.0);
  EXPECT_EQ(chip.core.vector.clock, hardware().chip("trn2").core.vector.clock);
  EXPECT_EQ(chip.hbm.capacity, hardware().chip("trn2").hbm.capacity);
}

TEST(CatalogUserFile, a_bare_number_is_a_guess_by_the_user) {
  const TemporaryFile file("name = \"mine\"\nbase = \"trn2\"\n[core.tensor]\nclock = 3.0\n");
  const Chip chip = load_chip_file(file.path(), hardware());
  EXPECT_EQ(chip.core.tensor.clock.confidence, Confidence::kGuess);
  const Fact* fact = chip.fact("core.tensor.clock");
  ASSERT_NE(fact, nullptr);
  EXPECT_EQ(fact->source, "user file");
  EXPECT_EQ(fact->line, 4);
  EXPECT_EQ(chip.core.fact("tensor.clock")->source, "user file");
}

TEST(CatalogUserFile, another_core_brings_its_own_figures) {
  const TemporaryFile file("name = \"mine\"\nbase = \"trn2\"\nneuroncore = \"neuroncore_v4\"\n");
  const Chip chip = load_chip_file(file.path(), hardware());
  EXPECT_EQ(chip.core.version(), 4);
  EXPECT_EQ(chip.core.sbuf.bytes_per_partition, 256 * 1024);
  EXPECT_EQ(chip.hbm.capacity, 96);
}

TEST(CatalogUserFile, the_catalogue_itself_is_not_changed) {
  const TemporaryFile file("name = \"mine\"\nbase = \"trn2\"\ncores = 1\n");
  load_chip_file(file.path(), hardware());
  EXPECT_EQ(hardware().chip("trn2").cores, 8);
}

TEST(CatalogUserFile, without_a_base_everything_must_be_given) {
  const TemporaryFile file("name = \"mine\"\nneuroncore = \"neuroncore_v3\"\n");
  try {
    load_chip_file(file.path(), hardware());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("cores is missing: physical NeuronCores"));
  }
}

TEST(CatalogUserFile, a_misspelt_core_field_is_told) {
  const TemporaryFile file("name = \"mine\"\nbase = \"trn2\"\n[core.tensor]\nclokc = 3.0\n");
  try {
    load_chip_file(file.path(), hardware());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(),
                HasSubstr(":4:1: \"core.tensor.clokc\" is not a known key of a chip; did you mean "
                          "\"core.tensor.clock\"?"));
  }
}

TEST(CatalogUserFile, an_unknown_base_is_told) {
  const TemporaryFile file("name = \"mine\"\nbase = \"trn9\"\n");
  EXPECT_THROW(load_chip_file(file.path(), hardware()), Error);
}

TEST(CatalogUserFile, the_example_is_two_trainium1) {
  const Chip two = find_chip("examples/two_trainium1.toml", hardware());
  const Chip& one = hardware().chip("trainium1");
  EXPECT_EQ(two.cores, 2 * one.cores);
  EXPECT_EQ(two.hbm.capacity, 2 * one.hbm.capacity);
  EXPECT_EQ(two.hbm.bandwidth, 2 * one.hbm.bandwidth);
  EXPECT_EQ(two.dma.engines, two.cores * two.core.dma.engines);
  EXPECT_EQ(two.core.tensor.clock, one.core.tensor.clock);
}

}  // namespace
}  // namespace trnsim::catalog
