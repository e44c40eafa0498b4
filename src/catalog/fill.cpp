#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "catalog/reader.h"

namespace trnsim::catalog {
namespace {

std::string group_of(std::string_view path) {
  return std::string(path.substr(0, path.find_last_of('.')));
}

void store(const Slot& slot, const Fact& fact) {
  const Number number{std::holds_alternative<double>(fact.value) ? std::get<double>(fact.value) : 0,
                      fact.confidence};
  if (auto* const* target = std::get_if<Number*>(&slot)) **target = number;
  if (auto* const* target = std::get_if<std::optional<Number>*>(&slot)) **target = number;
  if (auto* const* target = std::get_if<std::string*>(&slot))
    **target = std::get<std::string>(fact.value);
  if (auto* const* target = std::get_if<std::optional<std::string>*>(&slot))
    **target = std::get<std::string>(fact.value);
  if (auto* const* target = std::get_if<bool*>(&slot)) **target = std::get<bool>(fact.value);
  if (auto* const* target = std::get_if<std::vector<std::string>*>(&slot))
    **target = std::get<std::vector<std::string>>(fact.value);
}

}  // namespace

void fill(void* record, const Schema& schema, const std::vector<Fact>& facts,
          const std::string& file) {
  std::map<std::string_view, const Fact*> by_path;
  std::set<std::string> groups;
  for (const Fact& fact : facts) {
    by_path[fact.path] = &fact;
    groups.insert(group_of(fact.path));
  }
  for (const Field& field : schema.fields) {
    const auto found = by_path.find(field.path);
    if (found != by_path.end()) {
      store(field.access.slot(field.enclosing ? field.enclosing(record) : record), *found->second);
      continue;
    }
    const bool group_present =
        !field.access.optional_group || groups.contains(group_of(field.path));
    if (field.access.required && group_present)
      config_error("{}:1:1: {} is missing: {}{}", file, field.path, field.meaning,
                   field.unit.empty() ? "" : fmt::format(", in {}", field.unit));
  }
}

void override_facts(std::vector<Fact>& facts, const std::vector<Fact>& changes,
                    const Schema& schema) {
  std::map<std::string_view, std::size_t> rank;
  for (const Field& field : schema.fields) rank[field.path] = rank.size();
  for (const Fact& change : changes) {
    auto same = std::find_if(facts.begin(), facts.end(),
                             [&](const Fact& fact) { return fact.path == change.path; });
    if (same != facts.end())
      *same = change;
    else
      facts.push_back(change);
  }
  std::stable_sort(facts.begin(), facts.end(),
                   [&](const Fact& a, const Fact& b) { return rank.at(a.path) < rank.at(b.path); });
}

}  // namespace trnsim::catalog
