// trnsim train: the plan of a training run.
#pragma once

#include "cli/context.h"

namespace CLI {
class App;
}

namespace trnsim::cli {

void add_train_command(CLI::App& app, const Context& context);

}  // namespace trnsim::cli
