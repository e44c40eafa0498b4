// A GPU to compare with. Dense rates unless the name says otherwise.
#pragma once

#include <optional>

#include "catalog/fact.h"

namespace trnsim::catalog {

// What a GPU reaches in training, for the roofline of fleet/gpu_device.cpp.
struct GpuRates {
  Number multiprocessors;
  Number matmul, memory;                 // of the peaks, at best
  Number flash_forward, flash_backward;  // of the matrix peak, attention kernels
  Number launch;                         // from one kernel to the next
  Number busbw;                          // all_reduce within a server
  Number reserved;                       // memory of context and communication library
};

struct Gpu : Record {
  Number peak_bf16, memory_bandwidth;
  std::optional<Number> peak_tf32, peak_fp32, peak_fp8, peak_fp4, peak_int8;
  std::optional<Number> sparse_bf16, sparse_fp8, sparse_fp4;
  std::optional<Number> memory;
  Number link_bandwidth;  // NVLink, all links, both directions
  std::optional<Number> host_link;
  Number power;
  std::optional<Number> transistors;
  std::optional<GpuRates> rates;
};

}  // namespace trnsim::catalog
