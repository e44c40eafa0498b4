#include "report/page.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "report/columns.h"
#include "report/comparison.h"
#include "report/output_file.h"
#include "report/page_data.h"
#include "report/report.h"
#include "report/web_files.h"

namespace trnsim::report {
namespace {

using Json = nlohmann::ordered_json;

std::string_view web_file(std::string_view name) {
  for (const WebFile& file : web_files()) {
    if (file.name == name) return file.text;
  }
  internal_error("web/{} was not embedded", name);
}

// In a script element nothing ends the text but "</script", and "<!--" changes what does: without
// "<" neither can occur. JSON has it in strings only.
std::string in_script(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string in_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '&':
        out += "&amp;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// The modules name one another "trnsim/timeline.js"; the map says where each is: in the page.
std::string import_map() {
  Json imports;
  for (const WebFile& file : web_files()) {
    if (!file.name.ends_with(".js")) continue;
    imports["trnsim/" + std::string(file.name)] =
        "data:text/javascript;charset=utf-8;base64," + base64(file.text);
  }
  return Json{{"imports", std::move(imports)}}.dump();
}

std::string script(std::string_view kind, std::string_view json) {
  return "<script type=\"application/json\" class=\"" + std::string(kind) + "\">" +
         in_script(json) + "</script>\n";
}

std::string data_block(const Side& side, const ReadSource& read_source) {
  Json launches_data = Json::array();
  for (const auto launch : launches(side.runs))
    launches_data.push_back(launch_data(launch, read_source));
  const Json rest{{"label", side.label}, {"launches", std::move(launches_data)}};
  return script("report", json(side.runs, Detail::kSummary)) +
         script("side", rest.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// The template's {{word}}s, each once.
std::string filled(std::string_view text,
                   const std::function<std::string(std::string_view)>& value) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t open = text.find("{{", at);
    out += text.substr(at, open - at);
    if (open == std::string_view::npos) return out;
    const std::size_t close = text.find("}}", open);
    out += value(text.substr(open + 2, close - open - 2));
    at = close + 2;
  }
}

}  // namespace

std::optional<std::string> read_source_file(const std::string& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::string page(std::span<const Side> sides, const ReadSource& read_source) {
  for (const Side& side : sides) {
    if (side.runs.empty()) config_error("{} holds no kernel launch: nothing to report", side.label);
  }
  return filled(web_file("page.html"), [&](std::string_view word) {
    if (word == "title") return in_html(sides.front().runs.front().kernel);
    if (word == "style") return std::string(web_file("style.css"));
    if (word == "modules") return import_map();
    if (word != "data") internal_error("web/page.html asks for {}", word);
    std::string data;
    for (const Side& side : sides) data += data_block(side, read_source);
    if (sides.size() == 2)
      data += script("comparison", json(compare(sides[0].runs, sides[1].runs)));
    return data;
  });
}

void write_page(std::span<const Side> sides, const std::filesystem::path& path,
                const ReadSource& read_source) {
  write_file(path, page(sides, read_source));
}

}  // namespace trnsim::report
