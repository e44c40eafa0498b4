// The page for people: complete, and small enough for one screen.
#include <gmock/gmock.h>

#include <sstream>

#include "examples.h"
#include "report/report.h"

namespace trnsim::report {
namespace {

using testing::HasSubstr;

void expect_fits(const std::string& page) {
  std::istringstream lines(page);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_LE(count, 30) << page;
}

TEST(Text, says_how_long_what_bounds_it_and_which_lines_cost) {
  Scene scene;
  load_multiply_store(scene);
  const std::string page = text(std::vector{run_of(scene, "matmul_kernel")});
  for (const char* part : {"matmul_kernel", "NeuronCore-v3 of trainium2", "latency", "verdict",
                           "time lost to", "published bf16 peak of one core", "sustained",
                           "rests on", "guesses", "kernel.py:1 in kernel", "DMA loads"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, testing::Not(HasSubstr("...")));  // nothing had to be cut off
  expect_fits(page);
}

TEST(Text, of_a_busy_program_fits_one_screen) {
  Scene scene;
  jumble(scene, 3, 400);
  expect_fits(text(std::vector{run_of(scene, std::string(300, 'k'))}));
}

TEST(Text, of_several_launches_lists_them_and_shows_the_longest) {
  Scene small, large;
  load_multiply_store(small);
  jumble(large, 3, 400);
  std::vector runs(20, run_of(small, "small"));
  runs.push_back(run_of(large, "large"));
  const std::string page = text(runs);
  EXPECT_THAT(page, HasSubstr("21 kernel launches"));
  EXPECT_THAT(page, HasSubstr("large on one NeuronCore-v3"));
  EXPECT_THAT(page, HasSubstr("15 more"));
  expect_fits(page);
}

TEST(Text, of_nothing_says_so) {
  Scene scene;
  EXPECT_THAT(text({}), HasSubstr("No kernel ran"));
  expect_fits(text(std::vector{run_of(scene)}));
}

}  // namespace
}  // namespace trnsim::report
