// Which of the GpSimd processors this one is.
#pragma once

#include <stdint.h>
#include <trnsim_gpsimd/tensor.h>

// In [0, get_cpu_count()).
uint32_t get_cpu_id();
// 1 without multicore=True.
uint32_t get_cpu_count();
