#include "catalog/accuracy.h"

#include <toml++/toml.h>

#include <algorithm>

#include "base/error.h"

namespace trnsim::catalog {
namespace {

class Reader {
 public:
  Reader(const std::filesystem::path& file, const toml::table& table)
      : file_(file), table_(table) {}

  template <class T>
  T value(std::string_view key) const {
    const auto found = table_[key].value<T>();
    if (!found) config_error("{}: a family without {}, or not a proper one", file_.string(), key);
    return *found;
  }
  Range range(std::string_view key) const {
    const toml::array* pair = table_[key].as_array();
    if (!pair || pair->size() != 2) config_error("{}: {} is no pair", file_.string(), key);
    const auto low = pair->get(0)->value<double>(), high = pair->get(1)->value<double>();
    if (!low || !high || *low > *high) config_error("{}: {} is no range", file_.string(), key);
    return {*low, *high};
  }
  std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> list;
    if (const toml::array* array = table_[key].as_array()) {
      for (const toml::node& node : *array) list.push_back(node.value_or(std::string()));
    }
    return list;
  }

 private:
  const std::filesystem::path& file_;
  const toml::table& table_;
};

}  // namespace

const Family* Accuracy::family(std::string_view name) const {
  for (const std::string_view wanted : {name, std::string_view("kernels")}) {
    const auto at = std::ranges::find(families, wanted, &Family::name);
    if (at != families.end()) return &*at;
  }
  return nullptr;
}

Accuracy load_accuracy(const std::filesystem::path& file) {
  Accuracy accuracy;
  if (!std::filesystem::exists(file)) return accuracy;
  const toml::table root = [&] {
    try {
      return toml::parse_file(file.string());
    } catch (const toml::parse_error& error) {
      config_error("{}: {}", file.string(), error.description());
    }
  }();
  const toml::array* families = root["family"].as_array();
  if (!families) config_error("{}: no family in it", file.string());
  for (const toml::node& node : *families) {
    const toml::table* table = node.as_table();
    if (!table) config_error("{}: a family is a table", file.string());
    const Reader reader(file, *table);
    accuracy.families.push_back({.name = reader.value<std::string>("name"),
                                 .chips = reader.texts("chips"),
                                 .rows = reader.value<std::int64_t>("rows"),
                                 .sources = reader.value<std::int64_t>("sources"),
                                 .ratio = reader.range("ratio"),
                                 .latency_ns = reader.range("latency_ns"),
                                 .instructions = reader.range("instructions"),
                                 .dma_share = reader.range("dma_share")});
  }
  return accuracy;
}

}  // namespace trnsim::catalog
