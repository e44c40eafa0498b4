#include "cli/collective_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

namespace trnsim::cli {
namespace {

using Json = nlohmann::ordered_json;

// Below this share no resource binds: the steps do.
constexpr double kBinds = 0.5;

std::string binding_text(const fabric::Cost& cost) {
  const fabric::Traffic* fullest = cost.binding();
  if (!fullest || cost.share(*fullest) < kBinds) return "latency of the steps";
  return fmt::format("{} ({:.0f} %)", fullest->resource, cost.share(*fullest) * 100);
}

std::vector<const fabric::Traffic*> by_share(const fabric::Cost& cost) {
  std::vector<const fabric::Traffic*> used;
  for (const fabric::Traffic& traffic : cost.traffic)
    if (traffic.bytes > 0) used.push_back(&traffic);
  std::stable_sort(used.begin(), used.end(),
                   [&](const auto* a, const auto* b) { return cost.share(*a) > cost.share(*b); });
  return used;
}

const char* fold_text(fabric::FoldKind kind) {
  switch (kind) {
    case fabric::FoldKind::kNone:
      return "every rank";
    case fabric::FoldKind::kAlikeSystems:
      return "the systems that differ";
    case fabric::FoldKind::kSystems:
      return "one system for all";
    case fabric::FoldKind::kChips:
      return "one chip for all";
  }
  return "";
}

std::string size_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return fmt::format("{:g}{}", bytes, kUnits[unit]);
}

}  // namespace

void print_table(const CollectiveTable& table, bool links, std::ostream& out) {
  out << fmt::format("{} on {}: {} ranks{}, {} {}, clocked for {}\n", table.collective,
                     table.topology, table.ranks,
                     table.groups > 1 ? fmt::format(" in {} groups", table.groups) : "",
                     table.accelerator, table.dtype,
                     table.rows.empty() ? "" : fold_text(table.rows.front().cost.fold.kind));
  out << fmt::format("{:>14} {:>12} {:>12} {:>10} {:>10}  {:<16} {}\n", "size(B)", "count(elems)",
                     "time(us)", "algbw(GB/s)", "busbw(GB/s)", "algorithm", "bound by");
  for (const CollectiveRow& row : table.rows) {
    out << fmt::format("{:>14} {:>12} {:>12.2f} {:>11.2f} {:>11.2f}  {:<16} {}\n", row.bytes,
                       row.count, row.us, row.algorithm_gb_per_s, row.bus_gb_per_s, row.algorithm,
                       binding_text(row.cost));
    if (!links) continue;
    for (const fabric::Traffic* used : by_share(row.cost))
      if (used->is_link)
        out << fmt::format("{:>14} {:>12} {:>5.1f} % of {:.1f} GB/s  {}\n", "", used->bytes,
                           row.cost.share(*used) * 100, static_cast<double>(used->capacity) * 1e-9,
                           used->resource);
  }
}

std::string table_json(const CollectiveTable& table, bool links) {
  Json json{{"collective", table.collective},
            {"topology", table.topology},
            {"accelerator", table.accelerator},
            {"dtype", table.dtype},
            {"ranks", table.ranks},
            {"groups", table.groups}};
  json["rows"] = Json::array();
  for (const CollectiveRow& row : table.rows) {
    Json entry{{"bytes", row.bytes},
               {"count", row.count},
               {"algorithm", row.algorithm},
               {"time_ps", row.cost.time.count},
               {"time_us", row.us},
               {"algbw_gb_per_s", row.algorithm_gb_per_s},
               {"busbw_gb_per_s", row.bus_gb_per_s},
               {"bound_by", binding_text(row.cost)},
               {"clocked", fold_text(row.cost.fold.kind)},
               {"transfers", row.cost.transfers}};
    for (const fabric::Traffic* used : by_share(row.cost))
      if (links)
        entry["links"].push_back({{"resource", used->resource},
                                  {"bytes", used->bytes},
                                  {"capacity_gb_per_s", static_cast<double>(used->capacity) * 1e-9},
                                  {"share", row.cost.share(*used)}});
    json["rows"].push_back(std::move(entry));
  }
  return json.dump(2);
}

std::string table_svg(const CollectiveTable& table) {
  constexpr double kWide = 720, kHigh = 420, kLeft = 70, kRight = 70, kTop = 50, kBottom = 60;
  double first = 1e300, last = 0, fastest = 0, longest = 0, shortest = 1e300;
  for (const CollectiveRow& row : table.rows) {
    first = std::min(first, std::log2(std::max<double>(1, static_cast<double>(row.bytes))));
    last = std::max(last, std::log2(std::max<double>(1, static_cast<double>(row.bytes))));
    fastest = std::max(fastest, row.bus_gb_per_s);
    longest = std::max(longest, row.us);
    shortest = std::min(shortest, std::max(row.us, 1e-3));
  }
  const auto x = [&](std::int64_t bytes) {
    const double at = std::log2(std::max<double>(1, static_cast<double>(bytes)));
    return kLeft + (last > first ? (at - first) / (last - first) : 0.5) * (kWide - kLeft - kRight);
  };
  const double decades = std::max(1e-9, std::log10(std::max(longest, 1e-3) / shortest));
  const auto y_time = [&](double us) {
    return kHigh - kBottom -
           std::log10(std::max(us, 1e-3) / shortest) / decades * (kHigh - kTop - kBottom);
  };
  const auto y_rate = [&](double rate) {
    return kHigh - kBottom - rate / std::max(fastest, 1e-9) * (kHigh - kTop - kBottom);
  };
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n<text x=\"{2}\" y=\"22\" font-size=\"15\">{3} on {4}, {5} ranks</text>\n"
      "<text x=\"{2}\" y=\"40\" fill=\"#1565c0\">bus bandwidth, GB/s</text>\n"
      "<text x=\"{6}\" y=\"40\" fill=\"#c62828\" text-anchor=\"end\">time, us "
      "(logarithmic)</text>\n",
      kWide, kHigh, kLeft, table.collective, table.topology, table.ranks, kWide - kRight);
  for (int i = 0; i <= 4; ++i) {
    const double y = kHigh - kBottom - i * (kHigh - kTop - kBottom) / 4;
    svg += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" stroke=\"#ddd\"/>\n"
        "<text x=\"{3}\" y=\"{2:.1f}\" text-anchor=\"end\" fill=\"#1565c0\">{4:.3g}</text>\n"
        "<text x=\"{5}\" y=\"{2:.1f}\" fill=\"#c62828\">{6:.3g}</text>\n",
        kLeft, kWide - kRight, y, kLeft - 6, fastest * i / 4, kWide - kRight + 6,
        shortest * std::pow(10, decades * i / 4));
  }
  std::string rate, time;
  const std::size_t every = std::max<std::size_t>(1, (table.rows.size() + 9) / 10);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const CollectiveRow& row = table.rows[i];
    rate += fmt::format("{:.1f},{:.1f} ", x(row.bytes), y_rate(row.bus_gb_per_s));
    time += fmt::format("{:.1f},{:.1f} ", x(row.bytes), y_time(row.us));
    if (i % every == 0)
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                         x(row.bytes), kHigh - kBottom + 18,
                         size_text(static_cast<double>(row.bytes)));
  }
  svg += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"#1565c0\" stroke-width=\"2\"/>\n", rate);
  svg += fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"#c62828\" stroke-width=\"2\" "
      "stroke-dasharray=\"5 3\"/>\n</svg>\n",
      time);
  return svg;
}

}  // namespace trnsim::cli
