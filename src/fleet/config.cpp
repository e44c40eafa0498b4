#include "fleet/config.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trnsim::fleet {

std::string Config::type() const { return text("model_type", ""); }

bool Config::has(std::string_view key) const {
  const auto it = json_.find(key);
  return it != json_.end() && !it->is_null();
}

std::int64_t Config::count(std::string_view key) const {
  if (!has(key)) {
    config_error("{}: {} is missing; the config.json of a {} model states it", where_, key, type());
  }
  const std::int64_t value = count(key, 0);
  if (value <= 0) config_error("{}: {} is {}; it must be 1 or more", where_, key, value);
  return value;
}

std::int64_t Config::count(std::string_view key, std::int64_t otherwise) const {
  if (!has(key)) return otherwise;
  const nlohmann::json& value = *json_.find(key);
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0)
    config_error("{}: {} is {}; it must be a whole number, 0 or more", where_, key, value.dump());
  return value.get<std::int64_t>();
}

bool Config::flag(std::string_view key, bool otherwise) const {
  if (!has(key)) return otherwise;
  const nlohmann::json& value = *json_.find(key);
  if (!value.is_boolean())
    config_error("{}: {} is {}; it must be true or false", where_, key, value.dump());
  return value.get<bool>();
}

std::string Config::text(std::string_view key, std::string_view otherwise) const {
  if (!has(key)) return std::string(otherwise);
  const nlohmann::json& value = *json_.find(key);
  if (!value.is_string()) config_error("{}: {} is {}; it must be text", where_, key, value.dump());
  return value.get<std::string>();
}

std::vector<std::int64_t> Config::counts(std::string_view key) const {
  if (!has(key)) return {};
  const nlohmann::json& value = *json_.find(key);
  std::vector<std::int64_t> list;
  if (!value.is_array()) config_error("{}: {} must be a list of numbers", where_, key);
  for (const nlohmann::json& entry : value) {
    if (!entry.is_number_integer()) config_error("{}: {} must be a list of numbers", where_, key);
    list.push_back(entry.get<std::int64_t>());
  }
  return list;
}

std::vector<std::string> Config::texts(std::string_view key) const {
  if (!has(key)) return {};
  const nlohmann::json& value = *json_.find(key);
  std::vector<std::string> list;
  if (!value.is_array()) config_error("{}: {} must be a list of texts", where_, key);
  for (const nlohmann::json& entry : value) {
    if (!entry.is_string()) config_error("{}: {} must be a list of texts", where_, key);
    list.push_back(entry.get<std::string>());
  }
  return list;
}

std::int64_t Config::entries(std::string_view key, std::int64_t otherwise) const {
  return has(key) ? static_cast<std::int64_t>(json_.find(key)->size()) : otherwise;
}

Config Config::inside(std::string_view key) const {
  if (!has(key)) return *this;
  const nlohmann::json& value = *json_.find(key);
  if (!value.is_object()) config_error("{}: {} must be an object", where_, key);
  return Config(value, where_);
}

}  // namespace trnsim::fleet
