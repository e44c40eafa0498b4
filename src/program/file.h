// Recorded programs as a file, so that a run can be clocked again: on another chip, or with another
// version of trnsim. Everything is there that timing and reports look at; values of tensors are
// not.
//
// A fixed head (format, version, length, checksum), then the texts, then per launch the kernel, the
// chip, and for each core the instructions it uses with the names and kinds of their arguments, its
// lines, tensors, indirections and instructions. What an older or newer version calls differently
// is refused by its name. docs/program-files.md has the bytes.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.h"

namespace trnsim::program {

// One launch of a kernel: what each of its cores did.
struct Recording {
  std::string kernel;
  std::string chip;  // that it was recorded on
  std::vector<const Program*> cores;
};

struct LoadedRecording {
  std::string kernel;
  std::string chip;
  std::vector<Program> cores;
};

std::string encode(std::span<const Recording> launches);

// `origin` begins the message of every error. Throws ConfigError for what is no program file, of a
// version that this one cannot read, cut short, or damaged. Instructions have no engine yet:
// that depends on the generation (core::replay).
std::vector<LoadedRecording> decode(std::string_view file, const std::string& origin);

// The same, from a file; throws ConfigError too when it cannot be read.
std::vector<LoadedRecording> load(const std::filesystem::path& path);

}  // namespace trnsim::program
