// A config.json with typed access: every key that a family needs is asked for here, and what is
// missing or makes no sense is refused with the key, the family and the file.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace trnsim::fleet {

class Config {
 public:
  // `where` names the file or the preset in messages. The json must outlive this.
  Config(const nlohmann::json& json, std::string where) : json_(json), where_(std::move(where)) {}

  const std::string& where() const { return where_; }
  std::string type() const;              // model_type
  bool has(std::string_view key) const;  // given, and not null

  // A positive whole number; without it ConfigError.
  std::int64_t count(std::string_view key) const;
  std::int64_t count(std::string_view key, std::int64_t otherwise) const;  // may be 0
  bool flag(std::string_view key, bool otherwise) const;
  std::string text(std::string_view key, std::string_view otherwise) const;
  std::vector<std::int64_t> counts(std::string_view key) const;  // a list; empty where absent
  std::vector<std::string> texts(std::string_view key) const;
  // How many entries the object or list under a key has; `otherwise` where it is absent.
  std::int64_t entries(std::string_view key, std::int64_t otherwise) const;
  // The object under a key, such as text_config of a multimodal model; itself where absent.
  Config inside(std::string_view key) const;

 private:
  const nlohmann::json& json_;
  std::string where_;
};

}  // namespace trnsim::fleet
