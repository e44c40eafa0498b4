// Times for people: "812.5 ns", "12.34 us", "10.20 ms".
#pragma once

#include <string>

#include "base/units.h"

namespace trnsim::report {

std::string time_text(Picoseconds time);

}  // namespace trnsim::report
