// One core's run in numbers: how long, what bound it, how well each resource was used, which lines
// cost the most, and how far the result can be trusted.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "report/line_use.h"
#include "report/losses.h"
#include "report/run.h"

namespace trnsim::report {

// One instruction stream.
struct QueueUse {
  timing::Queue queue;
  std::int64_t instructions = 0;
  Picoseconds busy;       // engines: at work; DMA: with data on the move
  double busy_share = 0;  // of the latency
  Picoseconds critical;   // its steps on the critical path
  // By timing::Wait: the stream stood still for this reason.
  std::array<Picoseconds, timing::kWaitCount> stalled{};
};

struct LossUse {
  Loss loss;
  Picoseconds time;
  double share = 0;  // of the latency
};

struct Transfers {
  std::int64_t bytes = 0;
  std::int64_t pieces = 0;        // contiguous ones
  Picoseconds active;             // at least one transfer under way
  double piece_bytes = 0;         // mean
  double achieved_gb_per_s = 0;   // while active
  double sustained_gb_per_s = 0;  // of all DMA engines of the core
  double efficiency = 0;          // achieved by sustained
  std::int64_t hbm_bytes = 0;
  double hbm_gb_per_s = 0;       // over the whole latency
  double share_of_core_dma = 0;  // hbm_gb_per_s by what the core's DMA engines sustain
  double share_of_chip_hbm = 0;  // hbm_gb_per_s by the chip's bandwidth
};

struct MemoryUse {
  std::int64_t peak_bytes = 0;  // per partition
  std::int64_t capacity = 0;    // per partition, as far as kernels may use it
};

struct Summary {
  std::string kernel, chip, generation;
  int core = 0;
  std::size_t cores = 1;  // of the launch
  std::int64_t instructions = 0;
  Picoseconds latency;  // of the instruction stream
  timing::Scheduling scheduling = timing::Scheduling::kProgram;
  Picoseconds launch;             // fixed time of an executable on the device, not in `latency`
  std::vector<QueueUse> queues;   // those with instructions, in the order of timing::Queue
  std::int64_t flops = 0;         // Tensor Engine
  double peak_bf16_tflops = 0;    // of one core
  bool peak_published = false;    // by the vendor; otherwise rows x columns x 2 x clock
  double tensor_utilization = 0;  // busy share of the Tensor Engine
  double model_flops_utilization = 0;  // flops by latency x peak
  Transfers transfers;
  std::int64_t table_loads = 0;
  Picoseconds table_load_time;
  MemoryUse sbuf, psum;
  Losses losses_by_cause{};
  std::vector<LossUse> losses;  // those that took time, largest first, the launch not among them
  std::vector<LineUse> lines;   // the ten costliest by critical path, then by busy time
};

// One core's part of a launch. Its critical path may lead through the others.
Summary summarize(std::span<const Run> launch, std::size_t core);
inline Summary summarize(const Run& run) { return summarize({&run, 1}, 0); }

}  // namespace trnsim::report
