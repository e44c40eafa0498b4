#include "report/page_data.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "report/columns.h"
#include "report/critical_path.h"
#include "report/losses.h"
#include "report/memory_use.h"
#include "report/page_instructions.h"

namespace trnsim::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kOneGroup[] = {0};

template <class List, class Fn>
std::string column_of(const List& list, Predicted predicted, Fn&& value) {
  std::vector<std::int64_t> values;
  for (const auto& item : list) values.push_back(value(item));
  return column(values, kOneGroup, predicted);
}

// A name that ends in a number, apart: numbered names are many and then cost next to nothing.
struct NumberedName {
  std::string stem;
  std::int64_t number;  // kNone: none, or written in a way that it would not come back in
  static constexpr std::int64_t kNone = -1;
};

NumberedName numbered(const std::string& name) {
  constexpr std::size_t kMostDigits = 15;
  const std::size_t at = name.find_last_not_of("0123456789") + 1;
  const std::size_t digits = name.size() - at;
  const bool leading_zero = digits > 1 && name[at] == '0';
  if (digits == 0 || digits > kMostDigits || leading_zero) return {name, NumberedName::kNone};
  return {name.substr(0, at), std::stoll(name.substr(at))};
}

Json tensors_json(const Run& run) {
  const program::Program& program = *run.program;
  const std::map<std::uint32_t, TimeSpan> touched = lifetimes(run);
  const auto life_of = [&](const auto& entry) {
    const auto found = touched.find(entry.first);
    return found == touched.end() ? TimeSpan{} : found->second;  // never touched: no time at all
  };
  Dictionary stems;
  const auto of = [&](Predicted predicted, auto&& value) {
    return column_of(program.tensors(), predicted,
                     [&](const auto& entry) { return std::int64_t(value(entry.second)); });
  };
  using Life = program::TensorLife;
  Json columns{
      {"stem",
       of(Predicted::kSame, [&](const Life& t) { return stems.number(numbered(t.name).stem); })},
      {"number", of(Predicted::kSteady, [](const Life& t) { return numbered(t.name).number; })},
      {"from", column_of(program.tensors(), Predicted::kSteady,
                         [&](const auto& entry) { return life_of(entry).from.count; })},
      {"time", column_of(program.tensors(), Predicted::kSame,
                         [&](const auto& entry) {
                           return (life_of(entry).to - life_of(entry).from).count;
                         })},
      {"space", of(Predicted::kSame, [](const Life& t) { return t.space; })},
      {"partitions", of(Predicted::kSame, [](const Life& t) { return t.partitions; })},
      {"offset", of(Predicted::kSteady, [](const Life& t) { return t.offset; })},
      {"bytes", of(Predicted::kSame, [](const Life& t) { return t.bytes; })}};
  return {{"count", program.tensors().size()},
          {"stems", stems.take()},
          {"columns", std::move(columns)}};
}

Json path_json(std::span<const Run> launch, std::size_t core) {
  const std::vector<Step> path = critical_path(launch, core);
  const std::vector<Loss> losses = loss_of_each(launch, path);
  const auto of = [&](Predicted predicted, auto&& value) {
    return column_of(path, predicted, [&](const Step& s) { return std::int64_t(value(s)); });
  };
  Json columns{{"instruction", of(Predicted::kSteady, [](const Step& s) { return s.instruction; })},
               {"core", of(Predicted::kSame, [](const Step& s) { return s.core; })},
               {"loss", column_of(losses, Predicted::kSame,
                                  [](Loss loss) { return static_cast<std::int64_t>(loss); })},
               {"time", of(Predicted::kSame, [](const Step& s) { return s.time().count; })}};
  return {{"count", path.size()}, {"columns", std::move(columns)}};
}

Json sites_json(const program::Program& program, Dictionary& files, Dictionary& functions) {
  Json list = Json::array();
  for (const program::Site& site : program.sites())
    list.push_back({files.number(site.file), site.line, functions.number(site.function)});
  list.push_back({files.number(""), 0, functions.number("")});  // of what has no line
  return list;
}

template <class Name>
Json names_json(int count, Name&& name) {
  Json list = Json::array();
  for (int i = 0; i < count; ++i) list.push_back(name(i));
  return list;
}

// The lines that instructions came from, with some around them; files may be long.
Json sources_json(std::span<const Run> launch, const ReadSource& read_source) {
  constexpr int kBefore = 20, kAfter = 10;
  struct Range {
    int first, last;
  };
  std::map<std::string, Range> ranges;
  for (const Run& run : launch) {
    for (const program::Site& site : run.program->sites()) {
      if (site.file.empty() || site.line <= 0) continue;
      const auto [it, added] = ranges.try_emplace(site.file, Range{site.line, site.line});
      it->second = {std::min(it->second.first, site.line), std::max(it->second.last, site.line)};
    }
  }
  Json sources = Json::array();
  for (const auto& [file, range] : ranges) {
    const std::optional<std::string> text = read_source(file);
    if (!text) continue;
    Json lines = Json::array();
    int number = 1;
    const int first = std::max(1, range.first - kBefore);
    for (std::size_t at = 0; at < text->size() && number <= range.last + kAfter; ++number) {
      const std::size_t end = std::min(text->find('\n', at), text->size());
      if (number >= first) lines.push_back(text->substr(at, end - at));
      at = end + 1;
    }
    sources.push_back({{"file", file}, {"first_line", first}, {"lines", std::move(lines)}});
  }
  return sources;
}

}  // namespace

Json launch_data(std::span<const Run> launch, const ReadSource& read_source) {
  Dictionary files, functions;
  Json cores = Json::array();
  for (std::size_t core = 0; core < launch.size(); ++core) {
    const Run& run = launch[core];
    cores.push_back({{"core", run.core},
                     {"total_ps", run.timeline->total.count},
                     {"completion_ps", from_ns(run.chip->core.dma.completion_latency).count},
                     {"sites", sites_json(*run.program, files, functions)},
                     {"instructions", instructions_data(launch, core)},
                     {"tensors", tensors_json(run)},
                     {"path", path_json(launch, core)}});
  }
  using timing::Queue;
  return {
      {"kernel", launch.front().kernel},
      {"latency_ps", latency(launch).count},
      {"queues", names_json(timing::kQueueCount,
                            [](int q) { return timing::queue_name(static_cast<Queue>(q)); })},
      {"waits", names_json(timing::kWaitCount,
                           [](int w) { return timing::wait_name(static_cast<timing::Wait>(w)); })},
      {"losses",
       names_json(kLossCount, [](int loss) { return loss_name(static_cast<Loss>(loss)); })},
      {"files", files.take()},
      {"functions", functions.take()},
      {"sources", sources_json(launch, read_source)},
      {"cores", std::move(cores)}};
}

}  // namespace trnsim::report
