// trnsim report: the page of a saved program. trnsim diff: two saved programs side by side.
#pragma once

#include "cli/context.h"

namespace CLI {
class App;
}

namespace trnsim::cli {

void add_report_command(CLI::App& app, const Context& context);
void add_diff_command(CLI::App& app, const Context& context);

}  // namespace trnsim::cli
