// A GPU to compare with. Dense rates unless the name says otherwise.
#pragma once

#include <optional>

#include "catalog/fact.h"

namespace trnsim::catalog {

struct Gpu : Record {
  Number peak_bf16, memory_bandwidth;
  std::optional<Number> peak_tf32, peak_fp32, peak_fp8, peak_fp4, peak_int8;
  std::optional<Number> sparse_bf16, sparse_fp8, sparse_fp4;
  std::optional<Number> memory;
  Number link_bandwidth;  // NVLink, all links, both directions
  std::optional<Number> host_link;
  Number power;
  std::optional<Number> transistors;
};

}  // namespace trnsim::catalog
