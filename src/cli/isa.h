// trnsim isa: what the instructions' own files say about them. `isa` lists, `isa NAME` shows one
// with its arguments; both take --json.
#pragma once

#include "cli/context.h"

namespace CLI {
class App;
}

namespace trnsim::cli {

void add_isa_command(CLI::App& app, const Context& context);

}  // namespace trnsim::cli
