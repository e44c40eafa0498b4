// The 90 % interval: wider on weaker figures, and beyond what was measured.
#include "report/interval.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/error.h"
#include "examples.h"
#include "report/verdict.h"

namespace trnsim::report {
namespace {

using testing::HasSubstr;

const catalog::Accuracy kMeasured{{{.name = "kernels",
                                    .chips = {"trainium2"},
                                    .rows = 20,
                                    .sources = 4,
                                    .ratio = {0.8, 1.25},
                                    .latency_ns = {1e4, 1e6},
                                    .instructions = {100, 10000},
                                    .dma_share = {0, 1}},
                                   {.name = "reordered kernels",
                                    .chips = {"trainium2"},
                                    .rows = 10,
                                    .sources = 3,
                                    .ratio = {1.1, 1.2},
                                    .latency_ns = {1e4, 1e5},
                                    .instructions = {100, 1000},
                                    .dma_share = {0, 1}}}};

Interval interval(const Likeness& what, const catalog::Accuracy& accuracy) {
  return interval(what, accuracy.family(kernel_part(what)));
}

const Likeness kLike{.chip = "trainium2", .latency_ns = 5e4, .instructions = 500};

TEST(Interval, comes_from_the_residuals_of_the_family) {
  const Interval like = interval(kLike, kMeasured);
  EXPECT_TRUE(like.interpolated);
  EXPECT_THAT(like.basis, HasSubstr("interpolated: within 20 measured kernels"));
  EXPECT_NEAR(like.low_ns, 0.8 * 5e4, 1);
  EXPECT_NEAR(like.high_ns, 1.25 * 5e4, 1);
}

TEST(Interval, holds_the_prediction_even_where_all_residuals_lie_to_one_side) {
  Likeness reordered = kLike;
  reordered.scheduling = timing::Scheduling::kList;
  const Interval one_sided = interval(reordered, kMeasured);
  EXPECT_EQ(one_sided.low_ns, reordered.latency_ns);
  EXPECT_NEAR(one_sided.high_ns, 1.2 * reordered.latency_ns, 1);
}

TEST(Interval, is_wider_on_guesses) {
  double before = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    Likeness what = kLike;
    what.confidence[i] = 1;
    const Interval wide = interval(what, kMeasured);
    EXPECT_LT(wide.low_ns, 0.8 * 5e4);
    EXPECT_GT(wide.high_ns, before);
    before = wide.high_ns;
  }
}

TEST(Interval, says_how_a_program_is_unlike_the_measured_ones) {
  const auto basis = [](auto change) {
    Likeness what = kLike;
    change(what);
    const Interval wide = interval(what, kMeasured);
    EXPECT_FALSE(wide.interpolated);
    EXPECT_GT(wide.high_ns / what.latency_ns, 1.26);
    return wide.basis;
  };
  EXPECT_THAT(basis([](Likeness& l) { l.chip = "trainium3"; }), HasSubstr("on trainium3"));
  EXPECT_THAT(basis([](Likeness& l) { l.latency_ns = 1e7; }), HasSubstr("more time"));
  EXPECT_THAT(basis([](Likeness& l) { l.latency_ns = 1e3; }), HasSubstr("less time"));
  EXPECT_THAT(basis([](Likeness& l) { l.instructions = 5; }), HasSubstr("less instructions"));
  const Interval nothing = interval(kLike, {});
  EXPECT_THAT(nothing.basis, HasSubstr("nothing was measured"));
  EXPECT_FALSE(nothing.interpolated);
}

TEST(Interval, of_a_launch_holds_its_latency) {
  Scene scene;
  jumble(scene, 2, 150);
  const report::Run run = run_of(scene);
  const Verdict verdict = judge({&run, 1}, summarize(run));
  EXPECT_LT(verdict.interval.low_ns, scene.timeline().total.ns());
  EXPECT_GT(verdict.interval.high_ns, scene.timeline().total.ns());
}

TEST(Accuracy, of_the_catalogue_is_a_proper_table) {
  const catalog::Accuracy accuracy = catalog::load("hardware").accuracy;
  ASSERT_FALSE(accuracy.families.empty());
  EXPECT_EQ(accuracy.families.front().name, "kernels");
  for (const catalog::Family& family : accuracy.families) {
    EXPECT_GT(family.rows, 0) << family.name;
    EXPECT_LE(family.ratio.low, family.ratio.high);
    EXPECT_FALSE(family.chips.empty());
  }
  EXPECT_TRUE(catalog::load_accuracy("no_such_file.toml").families.empty());
}

TEST(Accuracy, that_is_no_table_is_refused) {
  const std::string file = testing::TempDir() + "accuracy.toml";
  for (const char* text :
       {"[[family]]\nname = 3\n", "family = 1\n", "[[", "[[family]]\nname = \"x\"\n"}) {
    std::ofstream(file) << text;
    EXPECT_THROW(catalog::load_accuracy(file), Error) << text;
  }
}

}  // namespace
}  // namespace trnsim::report
