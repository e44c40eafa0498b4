// trnsim replay: a saved program clocked again, on the chip it was recorded on or another.
#pragma once

#include "cli/context.h"

namespace CLI {
class App;
}

namespace trnsim::cli {

void add_replay_command(CLI::App& app, const Context& context);

}  // namespace trnsim::cli
