// The views over finished runs: a page of text for people, JSON for programs, a Perfetto trace
// (perfetto.h).
#pragma once

#include <span>
#include <string>

#include "report/run.h"

namespace trnsim::report {

// At most 30 lines of 100 columns. One launch: its summary. Several: a line for each, then the
// longest in full.
std::string text(std::span<const Run> runs);

enum class Detail { kSummary, kInstructions };

// Everything that the summaries hold and, with kInstructions, every instruction. Keys stand in a
// fixed order and end in their unit; the same runs give the same bytes.
std::string json(std::span<const Run> runs, Detail detail = Detail::kInstructions);

}  // namespace trnsim::report
