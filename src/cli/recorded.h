// A saved program file with its launches clocked on a chip: what `trnsim replay` reports on.
#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/context.h"
#include "program/file.h"
#include "report/run.h"
#include "timing/clock.h"

namespace trnsim::cli {

class Recorded {
 public:
  // chip: a name or a user's file; empty for the chip that each launch was recorded on. schedule:
  // as of --schedule. Throws ConfigError for a bad file or chip, and what core::replay throws for a
  // program that is illegal on the chip.
  Recorded(const std::filesystem::path& file, const std::string& chip, const Context& context,
           const std::string& schedule = {});
  Recorded(const Recorded&) = delete;

  // Valid as long as this lives.
  std::vector<report::Run> runs() const;

 private:
  struct Launch {
    program::LoadedRecording recording;
    const catalog::Chip* chip;
    std::vector<timing::Timeline> timelines;
  };
  std::deque<catalog::Chip> chips_;
  std::vector<Launch> launches_;
};

}  // namespace trnsim::cli
