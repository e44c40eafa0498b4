#include "fleet/presets.h"

#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/nearest.h"
#include "fleet/families.h"

namespace trnsim::fleet {
namespace {

namespace fs = std::filesystem;

std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    text += lower == '_' || lower == ' ' ? '-' : lower;
  }
  return text;
}

nlohmann::json json_of(const toml::table& table) {
  std::ostringstream text;
  text << toml::json_formatter{table};
  return nlohmann::json::parse(text.str());
}

Preset preset_of(const toml::table& table, const std::string& file) {
  const auto text = [&](const char* key) {
    const auto value = table[key].value<std::string>();
    if (!value) config_error("{}: a [[model]] without {}", file, key);
    return *value;
  };
  const toml::table* config = table["config"].as_table();
  const std::string name = text("name");
  if (!config) config_error("{}: {} has no [model.config]", file, name);
  const nlohmann::json json = json_of(*config);
  Preset preset;
  preset.model = read_model(Config(json, file + ", " + name));
  preset.model.name = name;
  preset.model.title = text("title");
  preset.model.source = text("source");
  preset.count_source = table["count_source"].value_or(preset.model.source);
  preset.published = table["parameters"].value_or(0.0);
  preset.active = table["active"].value<double>();
  preset.exact = table["exact"].value_or(true);
  if (const toml::array* aliases = table["aliases"].as_array())
    for (const toml::node& alias : *aliases)
      preset.aliases.push_back(alias.value_or(std::string()));
  return preset;
}

Model read_config_file(const fs::path& path) {
  const fs::path file = fs::is_directory(path) ? path / "config.json" : path;
  std::ifstream stream(file);
  if (!stream) config_error("{}: cannot be read; give the config.json of a model", file.string());
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(stream);
  } catch (const nlohmann::json::exception& error) {
    config_error("{}: not valid JSON: {}", file.string(), error.what());
  }
  if (!json.is_object()) config_error("{}: not a JSON object", file.string());
  Model model = read_model(Config(json, file.string()));
  model.name = file.parent_path().filename().empty() ? file.stem().string()
                                                     : file.parent_path().filename().string();
  model.title = model.name;
  model.source = file.string();
  return model;
}

}  // namespace

std::vector<Preset> load_presets(const fs::path& models_dir) {
  if (!fs::is_directory(models_dir))
    config_error("{}: the folder of the published models is not there", models_dir.string());
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(models_dir))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Preset> presets;
  for (const fs::path& file : files) {
    try {
      const toml::table table = toml::parse_file(file.string());
      if (const toml::array* models = table["model"].as_array())
        for (const toml::node& node : *models)
          presets.push_back(preset_of(*node.as_table(), file.filename().string()));
    } catch (const toml::parse_error& error) {
      config_error("{}:{}:{}: {}", file.string(), error.source().begin.line,
                   error.source().begin.column, error.description());
    }
  }
  return presets;
}

Model find_model(std::string_view name_or_file, const fs::path& models_dir) {
  const fs::path path(name_or_file);
  if (path.extension() == ".json" || fs::is_directory(path)) return read_config_file(path);
  const std::string wanted = plain(name_or_file);
  std::vector<std::string> known, spellings;
  for (Preset& preset : load_presets(models_dir)) {
    const auto called = [&](const std::string& name) { return plain(name) == wanted; };
    if (called(preset.model.name) ||
        std::any_of(preset.aliases.begin(), preset.aliases.end(), called))
      return std::move(preset.model);
    known.push_back(preset.model.name);
    spellings.push_back(plain(preset.model.name));
    for (const std::string& alias : preset.aliases) spellings.push_back(plain(alias));
  }
  const std::string nearest = nearest_name(wanted, spellings);
  config_error("There is no model called \"{}\"{}. Give the path of a config.json, or one of: {}.",
               name_or_file, nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest),
               fmt::join(known, ", "));
}

}  // namespace trnsim::fleet
