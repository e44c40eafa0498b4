// What a launch would gain without each obstacle: it is clocked again (question.h). Obstacles
// overlap, so gains do not add up.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/obstacles.h"

namespace trnsim::report {

struct Gain {
  const Obstacle* obstacle;
  Picoseconds latency;  // without it
  double speedup;       // of the launch
};

// Largest first. Clocks the launch once for each obstacle.
std::vector<Gain> gains(std::span<const Run> launch, std::span<const Obstacle* const> obstacles);

// What an author can do about a launch, best first: of the obstacles with advice those that the run
// loses time to, if they gain anything worth a try.
std::vector<Gain> advice(std::span<const Run> launch, const Losses& losses);

// Launches of up to so many instructions, over all cores, are clocked again unasked.
inline constexpr std::size_t kClockedAgainUnasked = 20'000;
bool clocked_again_unasked(std::span<const Run> launch);

// The same programs on another chip.
struct Elsewhere {
  std::string chip;
  std::optional<Picoseconds> latency;  // none where they are illegal there
  std::string refusal;                 // ... for this reason
};

// A launch with all that was asked about it.
struct WhatIf {
  std::string kernel, chip;
  Picoseconds latency;
  std::vector<Gain> gains;
  std::vector<Elsewhere> elsewhere;
};

// A table for each launch.
std::string text(std::span<const WhatIf> launches);
std::string json(std::span<const WhatIf> launches);

}  // namespace trnsim::report
