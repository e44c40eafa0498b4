#include "catalog/reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/nearest.h"
#include "catalog/unit.h"

namespace trnsim::catalog {
namespace {

const std::vector<std::string> kNumberKeys = {"value", "unit", "source",      "confidence",
                                              "date",  "note", "alternatives"};
const std::vector<std::string> kHeaderKeys = {"name", "title", "aliases",
                                              "note", "base",  "sources"};

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest);
}

class DocumentReader {
 public:
  DocumentReader(std::string file, const Schema& schema, Strictness strictness)
      : file_(std::move(file)), schema_(schema), strictness_(strictness) {}

  Document read(const toml::table& root) {
    document_.record.kind = schema_.kind;
    document_.record.file = file_;
    if (const toml::node* sources = root.get("sources")) read_sources(*sources);
    read_header(root);
    read_group(root, "");
    // toml++ sorts keys by name; people want the order of the schema.
    std::map<std::string_view, std::size_t> rank;
    for (const Field& field : schema_.fields) rank[field.path] = rank.size();
    auto& facts = document_.record.facts;
    std::sort(facts.begin(), facts.end(),
              [&](const Fact& a, const Fact& b) { return rank.at(a.path) < rank.at(b.path); });
    return std::move(document_);
  }

 private:
  template <class... Args>
  [[noreturn]] void fail(const toml::source_region& where, fmt::format_string<Args...> text,
                         Args&&... args) const {
    config_error("{}:{}:{}: {}", file_, where.begin.line, where.begin.column,
                 fmt::format(text, std::forward<Args>(args)...));
  }

  std::string text_of(const toml::node& node, std::string_view what) const {
    if (const auto* text = node.as_string()) return text->get();
    fail(node.source(), "{} must be a string", what);
  }

  std::vector<std::string> list_of(const toml::node& node, std::string_view what) const {
    const toml::array* array = node.as_array();
    if (!array) fail(node.source(), "{} must be a list of strings", what);
    std::vector<std::string> list;
    for (const toml::node& item : *array)
      list.push_back(text_of(item, fmt::format("each item of {}", what)));
    return list;
  }

  void read_sources(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (!table) fail(node.source(), "sources must be a table of names for documents");
    for (const auto& [key, value] : *table)
      sources_[std::string(key.str())] = text_of(value, key.str());
  }

  void read_header(const toml::table& root) {
    Record& record = document_.record;
    if (const toml::node* node = root.get("name")) record.name = text_of(*node, "name");
    if (const toml::node* node = root.get("title")) record.title = text_of(*node, "title");
    if (const toml::node* node = root.get("note")) record.note = text_of(*node, "note");
    if (const toml::node* node = root.get("base")) document_.base = text_of(*node, "base");
    if (const toml::node* node = root.get("aliases")) record.aliases = list_of(*node, "aliases");
    // A user's own file needs no name of its own: it goes by that of the file.
    if (record.name.empty() && strictness_ == Strictness::kUserFile)
      record.name = std::filesystem::path(file_).stem().string();
    if (record.name.empty())
      fail(root.source(), "name is missing: what this {} is called", schema_.kind);
  }

  void read_group(const toml::table& table, const std::string& prefix) {
    for (const auto& [key, node] : table) {
      const std::string path = prefix + std::string(key.str());
      const bool header =
          std::find(kHeaderKeys.begin(), kHeaderKeys.end(), path) != kHeaderKeys.end();
      if (const Field* field = schema_.find(path)) {
        document_.record.facts.push_back(read_fact(*field, key, node));
      } else if (schema_.is_group(path) && node.is_table()) {
        read_group(*node.as_table(), path + ".");
      } else if (!header) {
        std::vector<std::string> known = schema_.paths();
        known.insert(known.end(), kHeaderKeys.begin(), kHeaderKeys.end());
        fail(key.source(), "\"{}\" is not a known key of a {}{}", path, schema_.kind,
             did_you_mean(path, known));
      }
    }
  }

  Fact read_fact(const Field& field, const toml::key& key, const toml::node& node) {
    Fact fact;
    fact.path = field.path;
    fact.meaning = field.meaning;
    fact.unit = field.unit;
    fact.file = file_;
    fact.line = static_cast<int>(key.source().begin.line);
    if (const toml::table* table = node.as_table()) {
      read_table(field, *table, fact);
    } else {
      const bool number = field.access.kind == Access::Kind::kNumber;
      if (number && strictness_ == Strictness::kCatalogue)
        fail(node.source(),
             "{} needs a unit, a source and a confidence: {{ value = ..., unit = \"{}\", source = "
             "\"...\", confidence = \"...\" }}",
             field.path, field.unit);
      fact.value = read_value(field, node, field.unit);
      if (number) fact.source = "user file";
      fact.confidence = number ? Confidence::kGuess : Confidence::kDocumented;
    }
    return fact;
  }

  void read_table(const Field& field, const toml::table& table, Fact& fact) {
    for (const auto& [key, node] : table)
      if (std::find(kNumberKeys.begin(), kNumberKeys.end(), key.str()) == kNumberKeys.end())
        fail(key.source(), "\"{}\" is not a known key of a value{}", key.str(),
             did_you_mean(key.str(), kNumberKeys));
    const toml::node* value = table.get("value");
    if (!value) fail(table.source(), "{} has no value", field.path);
    const std::string unit = read_unit(field, table);
    fact.value = read_value(field, *value, unit);
    fact.source = read_source(table, field.path);
    fact.confidence = read_confidence(table, field.path);
    if (const toml::node* node = table.get("date")) fact.date = text_of(*node, "date");
    if (const toml::node* node = table.get("note")) fact.note = text_of(*node, "note");
    if (const toml::node* node = table.get("alternatives")) {
      const toml::array* array = node->as_array();
      if (!array) fail(node->source(), "alternatives must be a list of tables");
      for (const toml::node& item : *array)
        fact.alternatives.push_back(read_alternative(field, item, unit));
    }
  }

  Alternative read_alternative(const Field& field, const toml::node& node, std::string_view unit) {
    const toml::table* table = node.as_table();
    if (!table || !table->get("value"))
      fail(node.source(), "an alternative needs a value, a source and a confidence");
    return {read_value(field, *table->get("value"), unit), read_source(*table, field.path),
            read_confidence(*table, field.path)};
  }

  std::string read_unit(const Field& field, const toml::table& table) const {
    const toml::node* node = table.get("unit");
    if (!node) {
      if (field.unit.empty() || strictness_ == Strictness::kUserFile)
        return std::string(field.unit);
      fail(table.source(), "{} has no unit; it is measured in {}", field.path, field.unit);
    }
    const std::string unit = text_of(*node, "unit");
    if (!convert(1, unit, field.unit)) {
      fail(node->source(), "{} is measured in {}, not in \"{}\"; use one of: {}", field.path,
           field.unit, unit, fmt::join(units_like(field.unit), ", "));
    }
    return unit;
  }

  Value read_value(const Field& field, const toml::node& node, std::string_view unit) const {
    switch (field.access.kind) {
      case Access::Kind::kText:
        return text_of(node, field.path);
      case Access::Kind::kList:
        return list_of(node, field.path);
      case Access::Kind::kFlag:
        if (const auto* flag = node.as_boolean()) return flag->get();
        fail(node.source(), "{} must be true or false", field.path);
      case Access::Kind::kNumber:
        break;
    }
    const auto number = node.value<double>();
    if (!number || !node.is_number()) fail(node.source(), "{} must be a number", field.path);
    if (!(*number >= 0))
      fail(node.source(), "{} must not be negative, got {}", field.path, *number);
    return *convert(*number, unit, field.unit);
  }

  // "@guide, table 2" stands for the document that [sources] calls "guide". Documents are long and
  // named often.
  std::string read_source(const toml::table& table, std::string_view path) const {
    const toml::node* node = table.get("source");
    if (!node) {
      if (strictness_ == Strictness::kUserFile) return "user file";
      fail(table.source(), "{} has no source; name a public document", path);
    }
    return expand_sources(text_of(*node, "source"), node->source());
  }

  std::string expand_sources(const std::string& text, const toml::source_region& where) const {
    std::string expanded;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] != '@') {
        expanded += text[i++];
        continue;
      }
      const std::size_t end = std::min(text.find_first_of(" ,;:/().", i), text.size());
      const std::string name = text.substr(i + 1, end - i - 1);
      const auto found = sources_.find(name);
      if (found == sources_.end()) unknown_source(name, where);
      expanded += found->second;
      i = end;
    }
    return expanded;
  }

  [[noreturn]] void unknown_source(std::string_view name, const toml::source_region& where) const {
    std::vector<std::string> known;
    for (const auto& [key, document] : sources_) known.push_back(key);
    fail(where, "[sources] does not name \"{}\"{}", name, did_you_mean(name, known));
  }

  Confidence read_confidence(const toml::table& table, std::string_view path) const {
    const toml::node* node = table.get("confidence");
    if (!node) {
      if (strictness_ == Strictness::kUserFile) return Confidence::kGuess;
      fail(table.source(), "{} has no confidence: documented, measured, inferred or guess", path);
    }
    const std::string text = text_of(*node, "confidence");
    if (const auto confidence = parse_confidence(text)) return *confidence;
    const std::vector<std::string> known = {"documented", "measured", "inferred", "guess"};
    fail(node->source(), "\"{}\" is not a confidence{}; use one of: {}", text,
         did_you_mean(text, known), fmt::join(known, ", "));
  }

  std::string file_;
  const Schema& schema_;
  Strictness strictness_;
  std::map<std::string, std::string> sources_;
  Document document_;
};

}  // namespace

Document read_document(const std::filesystem::path& file, const Schema& schema,
                       Strictness strictness) {
  const std::string name = file.string();
  toml::table root;
  try {
    root = toml::parse_file(name);
  } catch (const toml::parse_error& error) {
    const auto& where = error.source().begin;
    config_error("{}:{}:{}: {}", name, where.line, where.column, error.description());
  }
  return DocumentReader(name, schema, strictness).read(root);
}

}  // namespace trnsim::catalog
