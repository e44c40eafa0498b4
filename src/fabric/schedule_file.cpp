#include "fabric/schedule_file.h"

#include <toml++/toml.h>

#include "base/error.h"

namespace trnsim::fabric {
namespace {

int number(const toml::table& table, const char* key, int otherwise, const std::string& file) {
  const toml::node* node = table.get(key);
  if (!node) {
    if (otherwise >= 0) return otherwise;
    config_error("{}:{}: a send needs {}", file, table.source().begin.line, key);
  }
  const auto value = node->value<std::int64_t>();
  if (!value || *value < 0 || *value > (1 << 30))
    config_error("{}:{}: {} must be a whole number from 0 on", file, node->source().begin.line,
                 key);
  return static_cast<int>(*value);
}

}  // namespace

Schedule load_schedule(const std::filesystem::path& file, int members) {
  const std::string path = file.string();
  toml::table document;
  try {
    document = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    config_error("{}:{}: {}", path, error.source().begin.line, error.description());
  }
  const std::string name = document["name"].value_or(std::string("own"));
  const int chunks = number(document, "chunks", 1, path);
  const toml::array* rounds = document["round"].as_array();
  if (chunks < 1 || !rounds)
    config_error("{}:1: a schedule has chunks = N, at least 1, and [[round]] tables", path);
  std::vector<std::vector<Listed>> list;
  for (const toml::node& round : *rounds) {
    const toml::array* sends = round.is_table() ? (*round.as_table())["sends"].as_array() : nullptr;
    if (!sends)
      config_error("{}:{}: a round is sends = [{{from = .., to = ..}}, ..]", path,
                   round.source().begin.line);
    list.emplace_back();
    for (const toml::node& node : *sends) {
      if (!node.is_table())
        config_error("{}:{}: a send is {{from = .., to = ..}}", path, node.source().begin.line);
      const toml::table& send = *node.as_table();
      const bool reduces = send["reduce"].value_or(false);
      list.back().push_back(
          {number(send, "from", -1, path),
           {.to = number(send, "to", -1, path),
            .chunks = {number(send, "chunk", 0, path), number(send, "count", 1, path), chunks},
            .reduces = reduces,
            .writes = static_cast<std::int8_t>(reduces ? 3 : 1)}});  // reads both, writes one
    }
  }
  return listed(name, members, std::move(list));
}

}  // namespace trnsim::fabric
