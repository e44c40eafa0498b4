// Published models by name: models/*.toml, one file per family, each model with the keys of its
// config.json, where they were published, and the parameter count that goes with it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model.h"

namespace trnsim::fleet {

struct Preset {
  Model model;
  std::vector<std::string> aliases;
  std::string count_source;
  double published = 0;          // parameters, as published
  std::optional<double> active;  // of one token, as published
  bool exact = true;             // to the last parameter, rather than rounded
};

std::vector<Preset> load_presets(const std::filesystem::path& models_dir);

// A preset's name, or the path of a config.json (or of the folder that holds one). An unknown name
// throws ConfigError with the nearest.
Model find_model(std::string_view name_or_file, const std::filesystem::path& models_dir);

}  // namespace trnsim::fleet
