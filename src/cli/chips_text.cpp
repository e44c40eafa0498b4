#include "cli/chips_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/wrapped.h"

namespace trnsim::cli {
namespace {

using catalog::Fact;
using catalog::Record;
using catalog::value_text;

std::string group_of(const std::string& path) {
  const std::size_t dot = path.find_last_of('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::string last_of(const std::string& path) { return path.substr(path.find_last_of('.') + 1); }

bool is_number(const Fact& fact) { return std::holds_alternative<double>(fact.value); }

// A list has room for six digits.
std::string list_text(const Fact* fact) {
  if (!fact) return "-";
  const auto* number = std::get_if<double>(&fact->value);
  return number && *number != std::floor(*number) ? fmt::format("{:.6g}", *number)
                                                  : value_text(fact->value);
}

// The figures that a list shows of each kind of thing.
struct Column {
  std::string_view path, heading;
};
std::vector<Column> columns_of(std::string_view kind) {
  if (kind == "chip")
    return {{"cores", "cores"},
            {"peak.bf16", "bf16 TFLOPS"},
            {"hbm.capacity", "GiB"},
            {"hbm.bandwidth", "GB/s"}};
  if (kind == "core")
    return {{"tensor.clock", "GHz"},
            {"tensor.peak_bf16", "bf16 TFLOPS"},
            {"sbuf.bytes_per_partition", "SBUF B/part."}};
  if (kind == "instance")
    return {{"accelerators", "chips"},
            {"device_memory", "GiB"},
            {"network.efa", "EFA Gbps"},
            {"price.on_demand", "USD/h"},
            {"price.capacity_block", "block USD/h"}};
  if (kind == "system")
    return {{"accelerators", "chips"}, {"peak_bf16", "bf16 PFLOPS"}, {"device_memory", "GiB"}};
  if (kind == "cluster") return {{"accelerators", "chips"}, {"power", "MW"}};
  return {
      {"peak_bf16", "bf16 TFLOPS"}, {"memory", "GB"}, {"memory_bandwidth", "GB/s"}, {"power", "W"}};
}

std::string heading_of(std::string_view kind) {
  if (kind == "core") return "NeuronCores";
  if (kind == "gpu") return "GPUs to compare with";
  std::string heading(kind);
  heading[0] = static_cast<char>(heading[0] - 'a' + 'A');
  return heading + "s";
}

nlohmann::ordered_json value_json(const catalog::Value& value) {
  return std::visit([](const auto& v) { return nlohmann::ordered_json(v); }, value);
}

nlohmann::ordered_json fact_json(const Fact& fact) {
  nlohmann::ordered_json json;
  json["value"] = value_json(fact.value);
  if (!fact.unit.empty()) json["unit"] = fact.unit;
  json["meaning"] = fact.meaning;
  json["confidence"] = confidence_name(fact.confidence);
  if (!fact.source.empty()) json["source"] = fact.source;
  if (!fact.date.empty()) json["date"] = fact.date;
  if (!fact.note.empty()) json["note"] = fact.note;
  for (const auto& other : fact.alternatives)
    json["alternatives"].push_back({{"value", value_json(other.value)},
                                    {"confidence", confidence_name(other.confidence)},
                                    {"source", other.source}});
  return json;
}

nlohmann::ordered_json title_json(const Record& record) {
  return {{"kind", record.kind},
          {"name", record.name},
          {"title", record.title},
          {"aliases", record.aliases}};
}

void print_fact(const Fact& fact, std::ostream& out) {
  const std::string value = value_text(fact.value);
  if (is_number(fact)) {
    out << fmt::format("  {:<34} {:>12} {:<16} {}\n", last_of(fact.path), value, fact.unit,
                       confidence_name(fact.confidence));
  } else {
    print_wrapped(out, fmt::format("{:<34} {}", last_of(fact.path), value), 2);
  }
  const char* how = fact.confidence == catalog::Confidence::kGuess ? "; basis: " : "; from ";
  const std::string origin = fact.source.empty() ? "" : how + fact.source;
  print_wrapped(out, fact.meaning + origin, 6);
  if (!fact.date.empty()) print_wrapped(out, "as of " + fact.date, 6);
  if (!fact.note.empty()) print_wrapped(out, "note: " + fact.note, 6);
  for (const auto& other : fact.alternatives)
    print_wrapped(out,
                  fmt::format("or {} ({}): {}", value_text(other.value),
                              confidence_name(other.confidence), other.source),
                  6);
}

}  // namespace

std::vector<Difference> differences(const Record& left, const Record& right) {
  std::vector<Difference> all;
  // Both lists follow the schema, so a merge that puts the left one's extra facts first keeps the
  // order.
  std::size_t next = 0;
  for (const Fact& fact : left.facts) {
    const Fact* other = right.fact(fact.path);
    if (other)
      for (; &right.facts[next] != other; ++next)
        if (!left.fact(right.facts[next].path))
          all.push_back({right.facts[next].path, nullptr, &right.facts[next]});
    if (other) ++next;
    if (!other || other->value != fact.value) all.push_back({fact.path, &fact, other});
  }
  for (; next < right.facts.size(); ++next)
    all.push_back({right.facts[next].path, nullptr, &right.facts[next]});
  return all;
}

void print_list(const catalog::Catalog& catalog, std::ostream& out) {
  std::string_view kind;
  for (const Record* record : catalog.records()) {
    const std::vector<Column> columns = columns_of(record->kind);
    if (record->kind != kind) {
      out << (kind.empty() ? "" : "\n") << fmt::format("{:<24}", heading_of(record->kind));
      for (const Column& column : columns) out << fmt::format("{:>13}", column.heading);
      out << '\n';
      kind = record->kind;
    }
    out << fmt::format("  {:<22}", record->name);
    for (const Column& column : columns) {
      out << fmt::format("{:>13}", list_text(record->fact(column.path)));
    }
    if (!record->aliases.empty() && columns.size() < 5)
      out << fmt::format("   {}", fmt::join(record->aliases, ", "));
    out << '\n';
  }
  out << "\nOne of them: trnsim chips show NAME. Two of them: trnsim chips diff A B.\n";
}

void print_record(const Record& record, std::ostream& out) {
  out << fmt::format("{}: {}\n", record.name, record.title);
  if (!record.note.empty()) print_wrapped(out, record.note, 2);
  std::string group;
  for (const Fact& fact : record.facts) {
    if (group_of(fact.path) != group) {
      group = group_of(fact.path);
      out << fmt::format("\n[{}]\n", group);
    }
    print_fact(fact, out);
  }
  const auto guesses =
      std::count_if(record.facts.begin(), record.facts.end(), [](const Fact& fact) {
        return is_number(fact) && fact.confidence == catalog::Confidence::kGuess;
      });
  const auto numbers = std::count_if(record.facts.begin(), record.facts.end(), is_number);
  out << fmt::format("\n{} numbers, {} of them guesses.\n", numbers, guesses);
}

void print_differences(const Record& left, const Record& right, std::ostream& out) {
  out << fmt::format("{:<40} {:>16} {:>16} {:<16} {:>8}\n", "", left.name, right.name, "", "ratio");
  std::string group;
  for (const Difference& difference : differences(left, right)) {
    if (group_of(difference.path) != group) {
      group = group_of(difference.path);
      out << fmt::format("[{}]\n", group);
    }
    const Fact& any = difference.left ? *difference.left : *difference.right;
    const std::string a = difference.left ? value_text(difference.left->value) : "-";
    const std::string b = difference.right ? value_text(difference.right->value) : "-";
    std::string ratio;
    if (difference.left && difference.right && is_number(any) &&
        std::get<double>(difference.left->value) != 0)
      ratio = fmt::format("{:.3g}x", std::get<double>(difference.right->value) /
                                         std::get<double>(difference.left->value));
    if (a.size() <= 16 && b.size() <= 16) {
      std::string line = fmt::format("  {:<38} {:>16} {:>16} {:<16} {:>8}",
                                     last_of(difference.path), a, b, any.unit, ratio);
      line.erase(line.find_last_not_of(' ') + 1);
      out << line << '\n';
    } else {
      out << fmt::format("  {}\n", last_of(difference.path));
      print_wrapped(out, fmt::format("{}: {}", left.name, a), 6);
      print_wrapped(out, fmt::format("{}: {}", right.name, b), 6);
    }
  }
}

nlohmann::ordered_json list_json(const catalog::Catalog& catalog) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Record* record : catalog.records()) {
    nlohmann::ordered_json json = title_json(*record);
    for (const Column& column : columns_of(record->kind))
      if (const Fact* fact = record->fact(column.path))
        json[std::string(column.path)] = value_json(fact->value);
    list.push_back(std::move(json));
  }
  return list;
}

nlohmann::ordered_json record_json(const Record& record) {
  nlohmann::ordered_json json = title_json(record);
  if (!record.note.empty()) json["note"] = record.note;
  for (const Fact& fact : record.facts) json["facts"][fact.path] = fact_json(fact);
  return json;
}

nlohmann::ordered_json differences_json(const Record& left, const Record& right) {
  nlohmann::ordered_json json;
  json["left"] = title_json(left);
  json["right"] = title_json(right);
  json["differences"] = nlohmann::ordered_json::array();
  for (const Difference& difference : differences(left, right)) {
    nlohmann::ordered_json entry;
    entry["path"] = difference.path;
    entry["left"] = difference.left ? fact_json(*difference.left) : nlohmann::ordered_json();
    entry["right"] = difference.right ? fact_json(*difference.right) : nlohmann::ordered_json();
    json["differences"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace trnsim::cli
