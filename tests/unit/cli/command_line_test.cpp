// trnsim itself: help, version, and the exit code of each kind of error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "command.h"

namespace trnsim::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(CommandLine, help_fits_one_screen) {
  const Outcome help = command({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_LE(std::count(help.out.begin(), help.out.end(), '\n'), 24) << help.out;
  for (const char* name : {"run", "chips", "isa", "--version"})
    EXPECT_THAT(help.out, HasSubstr(name));
  std::istringstream lines(help.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(CommandLine, every_subcommand_has_help) {
  for (const char* name : {"run", "chips", "isa"}) {
    const Outcome help = command({name, "--help"});
    EXPECT_EQ(help.code, 0) << name;
    EXPECT_THAT(help.out, HasSubstr("--json")) << name;
  }
}

TEST(CommandLine, version_is_a_line_of_its_own) {
  const Outcome version = command({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_THAT(version.out, testing::MatchesRegex("trnsim [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(CommandLine, wrong_usage_exits_with_2_and_says_where_help_is) {
  for (const auto& args :
       std::vector<std::vector<std::string>>{{}, {"fly"}, {"chips", "show"}, {"--nonsense"}}) {
    const Outcome outcome = command(args);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_THAT(outcome.err, StartsWith("trnsim: "));
    EXPECT_THAT(outcome.err, HasSubstr("--help"));
  }
}

TEST(CommandLine, exit_codes_tell_whose_fault_it_is) {
  const auto code = [](Fault fault) {
    return command({"run", "CMakeLists.txt"},
                   [&](const RunOptions&) -> int { throw Error(fault, "so"); })
        .code;
  };
  EXPECT_EQ(code(Fault::kConfig), 2);
  EXPECT_EQ(code(Fault::kProgram), 3);
  EXPECT_EQ(code(Fault::kUnsupported), 4);
  EXPECT_EQ(code(Fault::kUnimplemented), 4);
  EXPECT_EQ(code(Fault::kMissingSpec), 4);
  EXPECT_EQ(code(Fault::kInternal), 70);
}

TEST(CommandLine, an_unforeseen_exception_is_a_defect_and_not_a_crash) {
  const Outcome outcome = command({"run", "CMakeLists.txt"},
                                  [](const RunOptions&) -> int { throw std::runtime_error("so"); });
  EXPECT_EQ(outcome.code, 70);
  EXPECT_THAT(outcome.err, HasSubstr("report"));
}

TEST(CommandLine, an_unknown_chip_names_the_nearest_one) {
  const Outcome outcome = command({"chips", "show", "tranium2"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("trainium2"));
}

}  // namespace
}  // namespace trnsim::cli
