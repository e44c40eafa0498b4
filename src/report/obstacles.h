// What may stand in a run's way, each with the way to clock the run again without it. Most are
// figures of the catalogue overridden, the others options of the clock (timing::Options).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "report/losses.h"
#include "report/question.h"

namespace trnsim::report {

struct Obstacle {
  std::string_view name;     // "dma-latency", as the command line takes it
  std::string_view without;  // what the question assumes: "transfers start and finish at once"
  // What it is in a kernel, "small DMA transfers", and what the kernel's author does about it;
  // empty where only another machine would help.
  std::string_view cause, advice;
  std::uint32_t losses;  // bits of the Losses that it lies behind
  void (*remove)(Question& question);
  // Whether it can stand in a launch's way at all; null where its losses say so.
  bool (*can_matter)(std::span<const Run> launch) = nullptr;

  bool behind(Loss loss) const { return losses >> static_cast<unsigned>(loss) & 1; }
};

// In a fixed order: first those with advice.
std::span<const Obstacle> obstacles();
const Obstacle* find_obstacle(std::string_view name);

}  // namespace trnsim::report
