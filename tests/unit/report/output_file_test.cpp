// Writing report files: complete or not at all, and with the reason.
#include "report/output_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/error.h"

namespace trnsim::report {
namespace {

namespace fs = std::filesystem;

class OutputFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path folder_ = fs::temp_directory_path() / ("trnsim_output_" + std::to_string(::getpid()));
};

void expect_refused(const fs::path& path, const char* reason) {
  for (const bool early : {true, false}) {
    try {
      early ? require_writable(path) : write_file(path, "new");
      FAIL() << path << " was not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::kConfig);
      EXPECT_THAT(error.message(), testing::HasSubstr(path.string()));
      EXPECT_THAT(error.message(), testing::HasSubstr(reason));
    }
  }
}

TEST_F(OutputFile, replaces_an_older_one_and_leaves_nothing_beside_it) {
  write_file(folder_ / "report", "old");
  require_writable(folder_ / "report");
  write_file(folder_ / "report", std::string("n\0w", 3));
  EXPECT_EQ(content(folder_ / "report"), std::string("n\0w", 3));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(OutputFile, a_missing_folder_is_named_with_the_reason) {
  expect_refused(folder_ / "missing" / "report", "No such file or directory");
}

TEST_F(OutputFile, a_folder_is_no_file) { expect_refused(folder_, "Is a directory"); }

TEST_F(OutputFile, a_file_is_no_folder) {
  write_file(folder_ / "file", "");
  expect_refused(folder_ / "file" / "report", "Not a directory");
}

TEST_F(OutputFile, devices_are_written_in_place) {
  write_file("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace trnsim::report
