// The parts of the JSON report that the page draws: source lines, roofline, transfer sizes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "report/run.h"

namespace trnsim::report {

nlohmann::ordered_json views_json(std::span<const Run> launch, std::size_t core);

}  // namespace trnsim::report
