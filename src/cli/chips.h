// trnsim chips: what the catalogue knows, with sources. `chips` lists, `chips show NAME` prints one
// entry, `chips diff A B` compares two; all take --json. A path to a user's chip file stands
// wherever a name does.
#pragma once

#include "cli/context.h"

namespace CLI {
class App;
}

namespace trnsim::cli {

void add_chips_command(CLI::App& app, const Context& context);

}  // namespace trnsim::cli
