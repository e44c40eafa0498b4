// One line on what to try first, from what binds a run. A rule of thumb per resource, not a search.
#pragma once

#include <string>

namespace trnsim::report {

struct Summary;

std::string advice(const Summary& summary);

}  // namespace trnsim::report
