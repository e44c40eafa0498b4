#include "catalog/unit.h"

#include <array>

namespace trnsim::catalog {
namespace {

// How many of its dimension's smallest unit one unit is: always a whole number, see convert().
struct Unit {
  std::string_view name;
  std::string_view dimension;
  double scale;
};

constexpr double kKi = 1024.0;

constexpr std::array<Unit, 47> kUnits = {{
    {"Hz", "frequency", 1},
    {"kHz", "frequency", 1e3},
    {"MHz", "frequency", 1e6},
    {"GHz", "frequency", 1e9},
    {"ps", "time", 1},
    {"ns", "time", 1e3},
    {"us", "time", 1e6},
    {"min", "duration", 1},
    {"h", "duration", 60},
    {"ms", "time", 1e9},
    {"s", "time", 1e12},
    {"B", "size", 1},
    {"KiB", "size", kKi},
    {"MiB", "size", kKi* kKi},
    {"GiB", "size", kKi* kKi* kKi},
    {"TiB", "size", kKi* kKi* kKi* kKi},
    {"kB", "size", 1e3},
    {"MB", "size", 1e6},
    {"GB", "size", 1e9},
    {"TB", "size", 1e12},
    {"B/s", "bandwidth", 1},
    {"MB/s", "bandwidth", 1e6},
    {"GB/s", "bandwidth", 1e9},
    {"B/ns", "bandwidth", 1e9},
    {"TB/s", "bandwidth", 1e12},
    {"MiB/s", "bandwidth", kKi* kKi},
    {"GiB/s", "bandwidth", kKi* kKi* kKi},
    {"TiB/s", "bandwidth", kKi* kKi* kKi* kKi},
    {"Gbps", "bandwidth", 1.25e8},
    {"Tbps", "bandwidth", 1.25e11},
    {"GFLOPS", "FLOP rate", 1},
    {"TFLOPS", "FLOP rate", 1e3},
    {"PFLOPS", "FLOP rate", 1e6},
    {"EFLOPS", "FLOP rate", 1e9},
    {"TOPS", "integer rate", 1},
    {"W", "power", 1},
    {"kW", "power", 1e3},
    {"MW", "power", 1e6},
    {"GW", "power", 1e9},
    {"USD/h", "price", 1},
    {"USD", "money", 1},
    {"cycles", "cycles", 1},
    {"cycles/element", "cycles per element", 1},
    {"elements/cycle", "elements per cycle", 1},
    {"count", "count", 1},
    {"ratio", "ratio", 1},
    {"bits", "bits", 1},
}};

const Unit* find(std::string_view name) {
  for (const Unit& unit : kUnits)
    if (unit.name == name) return &unit;
  return nullptr;
}

}  // namespace

std::optional<double> convert(double value, std::string_view from, std::string_view to) {
  if (from == to) return value;
  const Unit* source = find(from);
  const Unit* target = find(to);
  if (!source || !target || source->dimension != target->dimension) return std::nullopt;
  // Both scales are whole numbers, so one of the two divisions below is exact more often than a
  // multiplication by a fraction would be: 960 MHz becomes 0.96 GHz and not 0.9600000000000001.
  return source->scale >= target->scale ? value * (source->scale / target->scale)
                                        : value / (target->scale / source->scale);
}

std::vector<std::string> units_like(std::string_view unit) {
  std::vector<std::string> names;
  const Unit* wanted = find(unit);
  for (const Unit& candidate : kUnits)
    if (wanted && candidate.dimension == wanted->dimension) names.emplace_back(candidate.name);
  return names;
}

}  // namespace trnsim::catalog
