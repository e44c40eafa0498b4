#include "report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/report.h"
#include "unit/report/examples.h"

namespace trnsim::report {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::optional<std::string> no_source(const std::string&) { return std::nullopt; }

std::string page_of(std::vector<Run> runs, const ReadSource& source = no_source) {
  const Side side{"side", runs};
  return page({&side, 1}, source);
}

json::value_type block(const std::string& page, const std::string& kind) {
  const std::string tag = "<script type=\"application/json\" class=\"" + kind + "\">";
  const std::size_t at = page.find(tag) + tag.size();
  return json::parse(page.substr(at, page.find("</script>", at) - at));
}

TEST(Page, holds_the_json_report_as_it_is) {
  Scene scene;
  load_multiply_store(scene);
  const report::Run run = run_of(scene);
  const std::string text = page_of({run});
  EXPECT_EQ(block(text, "report"), json::parse(report::json({&run, 1}, Detail::kSummary)));
  EXPECT_EQ(block(text, "side")["launches"][0]["cores"][0]["instructions"]["count"], 4);
}

TEST(Page, asks_for_nothing_from_anywhere) {
  Scene scene;
  load_multiply_store(scene);
  const std::string text = page_of({run_of(scene)});
  EXPECT_THAT(text, Not(HasSubstr(" src=")));
  EXPECT_THAT(text, Not(HasSubstr("href=")));
  EXPECT_THAT(text, HasSubstr("default-src 'none'"));
  EXPECT_THAT(text, Not(HasSubstr("{{")));
}

TEST(Page, a_name_cannot_end_the_element_that_holds_it) {
  Scene scene;
  load_multiply_store(scene);
  const std::string nasty = "</script><script>alert(1)</script><!--<script>&{{data}}";
  const std::string text = page_of({run_of(scene, nasty)});
  EXPECT_THAT(text, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(text, Not(HasSubstr("<!--")));
  EXPECT_EQ(block(text, "report")["runs"][0]["kernel"], nasty);
  EXPECT_EQ(block(text, "side")["launches"][0]["kernel"], nasty);
}

TEST(Page, the_same_runs_give_the_same_bytes) {
  Scene scene;
  jumble(scene, 1, 200);
  EXPECT_EQ(page_of({run_of(scene)}), page_of({run_of(scene)}));
}

TEST(Page, instructions_take_little_room_even_when_each_has_its_own_line) {
  Scene once, often;
  const std::size_t bare = page_of({(load_multiply_store(once), run_of(once))}).size();
  for (int i = 0; i < 1000; ++i) load_multiply_store(often);
  EXPECT_LT(page_of({run_of(often)}).size() - bare, 4000 * 500U);
}

TEST(Page, needs_a_launch) {
  const Side nothing{"empty.trn", {}};
  EXPECT_THROW(page({&nothing, 1}, no_source), Error);
}

}  // namespace
}  // namespace trnsim::report
