// Units of the catalogue and conversions between units of one dimension (MHz to GHz, KiB to B, Gbps
// to GB/s). The schema states one unit per field; a file may use any other unit of the same
// dimension.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trnsim::catalog {

// `value` in `from`, expressed in `to`; nothing when either is unknown or they measure different
// things.
std::optional<double> convert(double value, std::string_view from, std::string_view to);

// Every unit that measures the same thing as `unit`, the canonical spelling first in its dimension.
std::vector<std::string> units_like(std::string_view unit);

}  // namespace trnsim::catalog
