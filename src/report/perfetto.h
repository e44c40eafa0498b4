// The runs as a trace for ui.perfetto.dev: a process per launch and core, a track per engine and
// DMA queue, an arrow from each instruction to those of other queues that waited for it last,
// counters of memory in use and DMA bandwidth.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "report/run.h"

namespace trnsim::report {

std::string perfetto_trace(std::span<const Run> runs);

// Throws ConfigError naming the path and the reason when it cannot be written; an older file then
// stays as it was.
void write_perfetto(std::span<const Run> runs, const std::filesystem::path& path);

}  // namespace trnsim::report
