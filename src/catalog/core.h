// One NeuronCore: the sizes of its memories and the constants of its engines' cost formulas. The
// formulas themselves are with the instructions; here are only numbers. Units are the schema's:
// GHz, ns, cycles (of the engine that the struct describes), B, GB/s (which is also B/ns), TFLOPS.
// Meanings are in core_schema.cpp, one line each.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/fact.h"
#include "catalog/number.h"

namespace trnsim::catalog {

struct Sbuf {
  Number partitions, bytes_per_partition, usable_bytes_per_partition;
  Number port_elements_per_cycle, port_clock, access_start_cycles;
  Number stride_threshold, stride_slowdown;
  Number min_align;
  bool vector_gpsimd_exclusive = false;
  double bytes() const { return partitions * bytes_per_partition; }
};

struct Psum {
  Number partitions, banks, bank_bytes, matmul_banks_max, accumulate_bytes, min_align;
  bool accumulates_bf16 = false;
  bool vector_scalar_exclusive = false;
  bool bank_conflicts = false;
  double bytes() const { return partitions * banks * bank_bytes; }
};

// The current limiter of Trainium2 and later: an idle array may not start at full rate.
struct ClockRamp {
  Number initial_rate, full_after, rearm_window, rearm_threshold;
};

struct TensorEngine {
  Number clock, rows, columns;
  Number stationary_free_max, moving_free_max;
  Number min_issue_cycles, load_stationary_columns_per_cycle;
  Number fill_latency;
  Number fp32_slowdown, fp32_passes;
  Number fp8_speedup;
  std::optional<Number> fp32_transpose_speedup;
  std::optional<Number> mx_speedup, mx_contraction_max, mx_scale_group;
  std::optional<Number> sparse_speedup;
  std::optional<Number> row_tiles, tiled_columns_per_cycle;
  std::optional<Number> peak_bf16, peak_tf32, peak_fp32, peak_fp8, peak_mx, peak_sparse, peak_int8;
  std::optional<Number> achieved_bf16;
  std::optional<ClockRamp> ramp;

  // One moving column enters per cycle: rows x columns multiply-adds.
  double bf16_tflops() const { return rows * columns * 2 * clock * 1e-3; }
};

struct VectorEngine {
  Number clock, lanes;
  Number min_issue_cycles, dynamic_address_cycles;
  Number drain, operand_read;
  // How many elements per lane and cycle beside the plain one of NeuronCore-v2.
  Number copy_fp32_speedup, copy_fp32_psum_speedup, copy_16bit_speedup, copy_16bit_psum_speedup;
  Number tensor_tensor_16bit_speedup, reduce_16bit_speedup, memset_speedup;
  Number tensor_tensor_cycles, tensor_tensor_psum_cycles, scalar_tensor_tensor_cycles;
  Number reciprocal_cycles, scan_cycles, bn_stats_cycles, bn_aggr_cycles, predicated_copy_cycles;
  Number accumulator_read_cycles, random_speedup;
  std::optional<Number> exponential_speedup, quantize_mx_speedup;
  std::optional<Number> peak_fp32;
};

struct ScalarEngine {
  Number clock, lanes;
  Number min_issue_cycles, dynamic_address_cycles;
  Number activation_drain, copy_drain, psum_saving, operand_read;
  Number cycles_per_element, narrow_speedup;
  Number table_load, accumulator_read_cycles, accumulator_read_drain;
  std::vector<std::string> table_sets;
  std::vector<std::string> in_every_table_set;
  std::optional<Number> peak_fp32;
};

struct GpsimdEngine {
  Number clock, lanes, processors, processor_width, partitions_per_processor;
  Number local_memory, local_memory_latency;
  Number start_cycles, drain;
  Number cycles_per_element, rsqrt_cycles, partition_reduce_cycles, topk_cycles;
  Number gather_fixed_cycles, gather_element_cycles, gather_group;
  Number random_cycles, nonzero_cycles;
  Number element_access, operator_step_cycles;
  Number operator_pool, stream_buffer, fast_streams, operator_stack;
  std::optional<Number> dma_bandwidth, dma_bandwidth_each_way;
  std::optional<Number> send_bytes_max;
};

struct Sync {
  Number semaphores, events, registers, instruction_streams;
  Number semaphore_latency, dispatch, semaphore_instruction, register_move, register_access, branch;
  std::optional<Number> core_barrier, core_exchange;
};

struct Dma {
  Number engines, queues_per_engine, partitions_per_engine;
  Number peak_rate, sustained_rate;
  Number transfer_fixed, descriptor_fixed, descriptor_bytes, descriptor_payload_max, packet_bytes;
  Number efficient_bytes, saturating_bytes;
  Number issue, trigger_latency, store_trigger_latency, spread, completion_latency;
  Number start_latency;
  Number software_descriptor, semaphore_increment;
  std::optional<Number> descriptor_generators, hardware_issue;
  Number transpose_hbm_fraction, transpose_sbuf_fraction, compute_fraction;
  std::optional<Number> qos_classes;

  double core_rate() const { return engines * sustained_rate; }
};

struct Launch {
  Number neff, profile, session, host_synchronous, host_asynchronous;
  Number microcode_bytes;
};

struct Core : Record {
  std::string generation;  // "v3", as in NeuronCore-v3
  Number base_clock;
  std::vector<std::string> dtypes;
  TensorEngine tensor;
  VectorEngine vector;
  ScalarEngine scalar;
  std::optional<GpsimdEngine> gpsimd;  // absent on NeuronCore-v1
  Sbuf sbuf;
  Psum psum;
  Sync sync;
  Dma dma;
  Launch launch;

  int version() const { return generation.size() == 2 ? generation[1] - '0' : 0; }
};

}  // namespace trnsim::catalog
