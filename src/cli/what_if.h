// trnsim whatif: what a program or script would gain without each obstacle, and on other chips.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/run.h"
#include "report/run.h"

namespace CLI {
class App;
}

namespace trnsim::cli {

// A script goes to `run_script`, with RunOptions::what_if set.
void add_what_if_command(CLI::App& app, const Context& context, RunScript run_script);

enum class WhatIfFormat { kText, kJson };
// Of finished launches: the table, or JSON. What is asked are names of obstacles and chips; all of
// them where none is given. Throws ConfigError for a name that is neither.
std::string what_if(std::span<const report::Run> runs, std::span<const std::string> asked,
                    const std::filesystem::path& hardware_dir, WhatIfFormat format);

}  // namespace trnsim::cli
