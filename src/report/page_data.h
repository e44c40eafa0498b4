// One launch in full, for the page: every instruction and tensor as columns, the critical path, and
// the source lines that they came from.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "report/page.h"

namespace trnsim::report {

nlohmann::ordered_json launch_data(std::span<const Run> launch, const ReadSource& read_source);

}  // namespace trnsim::report
