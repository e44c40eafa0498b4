// trnsim run: the options reach the script's runner, the script's own arguments stay as they are,
// and what must fail fails before the script starts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "command.h"

namespace trnsim::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kScript = "CMakeLists.txt";  // any file that exists

struct Started {
  Outcome outcome;
  std::optional<RunOptions> options;
};

Started start(std::vector<std::string> args, int result = 0) {
  Started started;
  args.insert(args.begin(), "run");
  started.outcome = command(args, [&](const RunOptions& options) {
    started.options = options;
    return result;
  });
  return started;
}

TEST(RunCommand, defaults) {
  const auto options = start({kScript}).options;
  ASSERT_TRUE(options);
  EXPECT_EQ(options->script, kScript);
  EXPECT_EQ(options->chip, "");  // left to the environment
  EXPECT_EQ(options->nki, "auto");
  EXPECT_FALSE(options->timing_only);
  EXPECT_FALSE(options->quiet);
  EXPECT_FALSE(options->seed);
  EXPECT_TRUE(options->trace.empty());
  EXPECT_TRUE(options->json.empty());
  EXPECT_THAT(options->arguments, IsEmpty());
}

TEST(RunCommand, takes_every_option) {
  const auto options = start({"--chip", "trn1", "--nki", "0.3", "--timing-only", "--trace",
                              "/tmp/t.pftrace", "--json", "--seed", "7", "--quiet", kScript})
                           .options;
  ASSERT_TRUE(options);
  EXPECT_EQ(options->chip, "trn1");
  EXPECT_EQ(options->nki, "0.3");
  EXPECT_TRUE(options->timing_only);
  EXPECT_EQ(options->trace, "/tmp/t.pftrace");
  EXPECT_EQ(options->json, "-");
  EXPECT_EQ(options->seed, 7u);
  EXPECT_TRUE(options->quiet);
}

TEST(RunCommand, what_follows_the_script_is_the_scripts) {
  const auto options =
      start({"--quiet", kScript, "--chip", "potato", "--json", "x.json", "-h", "--", "run"})
          .options;
  ASSERT_TRUE(options);
  EXPECT_EQ(options->chip, "");
  EXPECT_TRUE(options->json.empty());
  EXPECT_THAT(options->arguments,
              ElementsAre("--chip", "potato", "--json", "x.json", "-h", "--", "run"));
}

TEST(RunCommand, words_like_subcommands_are_the_scripts_too) {
  const auto options = start({kScript, "chips", "isa", "run", "--version"}).options;
  ASSERT_TRUE(options);
  EXPECT_THAT(options->arguments, ElementsAre("chips", "isa", "run", "--version"));
}

TEST(RunCommand, json_takes_a_file_with_and_without_an_equals_sign) {
  EXPECT_EQ(start({"--json=/tmp/r.out", kScript}).options->json, "/tmp/r.out");
  EXPECT_EQ(start({"--json", "/tmp/r.json", kScript}).options->json, "/tmp/r.json");
}

TEST(RunCommand, the_runners_exit_code_is_the_commands) {
  EXPECT_EQ(start({kScript}, 3).outcome.code, 3);
}

TEST(RunCommand, bad_input_is_refused_before_the_script_starts) {
  const auto refused = [](const std::vector<std::string>& args, const char* because) {
    const Started started = start(args);
    EXPECT_FALSE(started.options) << because;
    EXPECT_EQ(started.outcome.code, 2) << because;
    EXPECT_THAT(started.outcome.err, testing::StartsWith("trnsim: "));
    EXPECT_THAT(started.outcome.err, HasSubstr(because));
  };
  refused({}, "needs a script");
  refused({"--quiet"}, "needs a script");
  refused({"no_such_script.py"}, "no_such_script.py");
  refused({"src"}, "folder");
  refused({"--frobnicate", kScript}, "--frobnicate");
  refused({"--chip", "tranium2", kScript}, "trainium2");
  refused({"--seed", "many", kScript}, "--seed");
  refused({"--trace", "/no/such/folder/t.pftrace", kScript}, "/no/such/folder/t.pftrace");
  refused({"--json=/no/such/folder/r.json", kScript}, "No such file or directory");
}

}  // namespace
}  // namespace trnsim::cli
