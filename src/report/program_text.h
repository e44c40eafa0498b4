// The listing of a program: every instruction with its operands, places and source line. Needs no
// clock. The same program gives the same bytes, on any host.
#pragma once

#include <span>
#include <string>

#include "report/run.h"

namespace trnsim::report {

// For people and diff: a line per instruction, then a line per operand and per other argument that
// differs from its default. Timelines are not looked at and may be null.
std::string program_text(std::span<const Run> runs);

// The same for programs: {"format": "trnsim program", "format_version": 1, "runs": [...]}, an
// instruction a line.
std::string program_json(std::span<const Run> runs);

}  // namespace trnsim::report
