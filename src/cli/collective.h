// trnsim collective: how long a collective takes on a topology, size by size, in the manner of
// nccom-test, and what it is bound by.
#pragma once

#include "cli/context.h"

namespace CLI {
class App;
}

namespace trnsim::cli {

void add_collective_command(CLI::App& app, const Context& context);

}  // namespace trnsim::cli
