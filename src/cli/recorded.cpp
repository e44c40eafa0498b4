#include "cli/recorded.h"

#include <map>

#include "catalog/catalog.h"
#include "core/replay.h"

namespace trnsim::cli {

Recorded::Recorded(const std::filesystem::path& file, const std::string& chip,
                   const Context& context, const std::string& schedule) {
  std::vector<program::LoadedRecording> recordings = program::load(file);
  const catalog::Catalog catalog = catalog::load(context.hardware_dir);
  std::map<std::string, const catalog::Chip*> found;
  for (program::LoadedRecording& recording : recordings) {
    const std::string& name = chip.empty() ? recording.chip : chip;
    const catalog::Chip*& on = found[name];
    if (!on) on = &chips_.emplace_back(catalog::find_chip(name, catalog));
    recording.cores = core::replay(std::move(recording.cores), recording.kernel, *on);
    std::vector<const program::Program*> cores;
    for (const program::Program& core : recording.cores) cores.push_back(&core);
    std::vector<timing::Timeline> timelines =
        timing::clock(cores, *on, {.scheduling = timing::scheduling_named(schedule)});
    launches_.push_back({std::move(recording), on, std::move(timelines)});
  }
}

std::vector<report::Run> Recorded::runs() const {
  std::vector<report::Run> runs;
  for (const Launch& launch : launches_) {
    for (std::size_t rank = 0; rank < launch.recording.cores.size(); ++rank) {
      runs.push_back({launch.recording.kernel, &launch.recording.cores[rank],
                      &launch.timelines[rank], launch.chip, static_cast<int>(rank)});
    }
  }
  return runs;
}

}  // namespace trnsim::cli
