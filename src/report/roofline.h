// Where a core's run and its phases stand under the roofs of the chip: work done per byte of HBM
// traffic against work per time. Only the Tensor Engine's operations count as work.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/losses.h"
#include "report/run.h"

namespace trnsim::report {

struct ComputeRoof {
  std::string name;
  double tflops;
};

struct MemoryRoof {
  std::string name;
  double gb_per_s;
};

// A stretch of the run in which the critical path lost most of its time to one cause.
struct Phase {
  Picoseconds from, to;
  Loss loss;
  double flops = 0, hbm_bytes = 0;  // of instructions that work across its ends: their part
  double intensity() const { return hbm_bytes > 0 ? flops / hbm_bytes : 0; }  // FLOP a byte
  double tflops() const { return to > from ? flops / (to - from).ns() * 1e-3 : 0; }
};

struct Roofline {
  std::vector<ComputeRoof> compute;  // of one core, by dtype
  std::vector<MemoryRoof> memory;
  Phase run;  // from the start to the last result
  std::vector<Phase> phases;
};

Roofline roofline(std::span<const Run> launch, std::size_t core, std::span<const Step> path);

}  // namespace trnsim::report
