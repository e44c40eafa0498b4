// What hardware/ holds: every file loads, every number has a source, names lead somewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "catalog/catalog.h"

namespace trnsim::catalog {
namespace {

using testing::HasSubstr;

const Catalog& hardware() {
  static const Catalog kCatalog = load("hardware");
  return kCatalog;
}

TEST(CatalogFiles, every_file_loads) {
  EXPECT_EQ(hardware().cores.size(), 4u);
  EXPECT_EQ(hardware().chips.size(), 5u);
  EXPECT_GE(hardware().instances.size(), 20u);
  EXPECT_GE(hardware().systems.size(), 3u);
  EXPECT_GE(hardware().clusters.size(), 2u);
  EXPECT_GE(hardware().gpus.size(), 4u);
}

TEST(CatalogFiles, every_number_has_a_source_and_a_place) {
  for (const Record* record : hardware().records())
    for (const Fact& fact : record->facts) {
      if (!std::holds_alternative<double>(fact.value)) continue;
      EXPECT_FALSE(fact.source.empty()) << record->name << ": " << fact.path;
      EXPECT_GT(fact.line, 0) << record->name << ": " << fact.path;
      EXPECT_NE(fact.source, "user file") << record->name << ": " << fact.path;
      for (const Alternative& other : fact.alternatives)
        EXPECT_FALSE(other.source.empty()) << record->name << ": " << fact.path;
    }
}

TEST(CatalogFiles, sources_are_no_files_of_somebodys_machine) {
  for (const Record* record : hardware().records())
    for (const Fact& fact : record->facts)
      EXPECT_FALSE(fact.source.starts_with('/') || fact.source.starts_with('~'))
          << record->name << ": " << fact.path;
}

TEST(CatalogFiles, names_and_aliases_are_unique) {
  std::set<std::string> seen;
  for (const Record* record : hardware().records()) {
    EXPECT_TRUE(seen.insert(record->name).second) << record->name;
    for (const std::string& alias : record->aliases)
      EXPECT_TRUE(seen.insert(alias).second) << alias;
  }
}

TEST(CatalogFiles, every_price_has_a_date_or_says_why_not) {
  for (const Instance& instance : hardware().instances)
    for (const Fact& fact : instance.facts) {
      if (fact.path == "price.on_demand" || fact.path == "price.capacity_block") {
        EXPECT_FALSE(fact.date.empty()) << instance.name << ": " << fact.path;
      }
    }
}

TEST(CatalogFiles, aliases_case_and_dashes_do_not_matter) {
  EXPECT_EQ(hardware().chip("trn2").name, "trainium2");
  EXPECT_EQ(hardware().chip("Trainium2").name, "trainium2");
  EXPECT_EQ(hardware().chip("inf1").name, "inferentia1");
  EXPECT_EQ(hardware().system("trn2-ultraserver").name, "trn2_ultraserver");
  EXPECT_EQ(hardware().instance("trn2.48xlarge").accelerators, 16);
}

TEST(CatalogFiles, an_unknown_name_gets_the_nearest_and_the_list) {
  try {
    hardware().chip("trainum2");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kConfig);
    EXPECT_THAT(error.message(), HasSubstr("did you mean \"trainium2\"?"));
    EXPECT_THAT(error.message(),
                HasSubstr("inferentia1, inferentia2, trainium1, trainium2, trainium3"));
  }
}

TEST(CatalogFiles, a_chip_holds_its_core) {
  const Chip& trainium2 = hardware().chip("trn2");
  EXPECT_EQ(trainium2.core.version(), 3);
  EXPECT_EQ(trainium2.core.tensor.clock, 2.4);
  EXPECT_TRUE(trainium2.core.tensor.ramp.has_value());
  EXPECT_TRUE(trainium2.core.gpsimd.has_value());
  EXPECT_FALSE(hardware().chip("trn1").core.tensor.ramp.has_value());
  EXPECT_FALSE(hardware().chip("inf1").core.gpsimd.has_value());
  ASSERT_NE(trainium2.fact("core.tensor.clock"), nullptr);
  EXPECT_THAT(trainium2.fact("core.tensor.clock")->source, HasSubstr("trainium2_arch.rst"));
}

TEST(CatalogFiles, files_of_one_kind_list_in_natural_order) {
  std::vector<std::string> inf1;
  for (const Instance& instance : hardware().instances)
    if (instance.name.starts_with("inf1")) inf1.push_back(instance.name);
  EXPECT_THAT(inf1,
              testing::ElementsAre("inf1.xlarge", "inf1.2xlarge", "inf1.6xlarge", "inf1.24xlarge"));
}

}  // namespace
}  // namespace trnsim::catalog
