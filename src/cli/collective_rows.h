// What `trnsim collective` measured, and its three forms: a table, JSON, a plot.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "fabric/engine.h"

namespace trnsim::cli {

struct CollectiveRow {
  std::int64_t bytes = 0, count = 0;
  std::string algorithm;
  fabric::Cost cost;
  double us = 0, algorithm_gb_per_s = 0, bus_gb_per_s = 0;
};

struct CollectiveTable {
  std::string collective, topology, accelerator, dtype;
  std::int64_t ranks = 0, groups = 1;
  std::vector<CollectiveRow> rows;
};

void print_table(const CollectiveTable& table, bool links, std::ostream& out);
std::string table_json(const CollectiveTable& table, bool links);
// Bus bandwidth and time over size, as SVG.
std::string table_svg(const CollectiveTable& table);

}  // namespace trnsim::cli
