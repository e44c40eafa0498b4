// Every figure of a NeuronCore: path in the file, unit, member, meaning.
#include "catalog/core.h"
#include "catalog/schema.h"

namespace trnsim::catalog {
namespace {

template <auto... Members>
constexpr Access core = at<Core, Members...>;
template <auto Member>
constexpr Access tensor = at<Core, &Core::tensor, Member>;
template <auto Member>
constexpr Access ramp = at<Core, &Core::tensor, &TensorEngine::ramp, Member>;
template <auto Member>
constexpr Access vector = at<Core, &Core::vector, Member>;
template <auto Member>
constexpr Access scalar = at<Core, &Core::scalar, Member>;
template <auto Member>
constexpr Access gpsimd = at<Core, &Core::gpsimd, Member>;
template <auto Member>
constexpr Access sbuf = at<Core, &Core::sbuf, Member>;
template <auto Member>
constexpr Access psum = at<Core, &Core::psum, Member>;
template <auto Member>
constexpr Access sync = at<Core, &Core::sync, Member>;
template <auto Member>
constexpr Access dma = at<Core, &Core::dma, Member>;
template <auto Member>
constexpr Access launch = at<Core, &Core::launch, Member>;

}  // namespace

const Schema& core_schema() {
  using T = TensorEngine;
  using V = VectorEngine;
  using S = ScalarEngine;
  using G = GpsimdEngine;
  // clang-format off
  static const Schema kSchema{"core", {
    {"generation", "", core<&Core::generation>, "generation of the NeuronCore"},
    {"base_clock", "GHz", core<&Core::base_clock>, "clock in which profiles count cycles"},
    {"dtypes", "", core<&Core::dtypes>, "what the Tensor Engine reads"},

    {"tensor.clock", "GHz", tensor<&T::clock>, "clock of the systolic array"},
    {"tensor.rows", "count", tensor<&T::rows>, "rows of the array: the contraction"},
    {"tensor.columns", "count", tensor<&T::columns>, "columns of the array: stationary free size"},
    {"tensor.stationary_free_max", "count", tensor<&T::stationary_free_max>,
     "most columns of a stationary tile"},
    {"tensor.moving_free_max", "count", tensor<&T::moving_free_max>,
     "most columns of a moving tile (fp32 result)"},
    {"tensor.min_issue_cycles", "cycles", tensor<&T::min_issue_cycles>,
     "shortest interval between two matmuls"},
    {"tensor.load_stationary_columns_per_cycle", "ratio", tensor<&T::load_stationary_columns_per_cycle>,
     "speed of loading the stationary tile"},
    {"tensor.fill_latency", "ns", tensor<&T::fill_latency>,
     "result in PSUM after the last column has entered"},
    {"tensor.fp32_slowdown", "ratio", tensor<&T::fp32_slowdown>, "cycles per column with fp32 inputs"},
    {"tensor.fp32_passes", "count", tensor<&T::fp32_passes>, "hardware matmuls made of one fp32 matmul"},
    {"tensor.fp8_speedup", "ratio", tensor<&T::fp8_speedup>, "fp8 against bf16"},
    {"tensor.fp32_transpose_speedup", "ratio", tensor<&T::fp32_transpose_speedup>,
     "fp32 transpose against fp32 matmul"},
    {"tensor.mx_speedup", "ratio", tensor<&T::mx_speedup>, "MXFP8 and MXFP4 against bf16"},
    {"tensor.mx_contraction_max", "count", tensor<&T::mx_contraction_max>, "contraction of one MX matmul"},
    {"tensor.mx_scale_group", "count", tensor<&T::mx_scale_group>, "elements that share one MX scale"},
    {"tensor.sparse_speedup", "ratio", tensor<&T::sparse_speedup>, "structured sparsity against dense bf16"},
    {"tensor.row_tiles", "count", tensor<&T::row_tiles>, "independent groups of rows"},
    {"tensor.peak_bf16", "TFLOPS", tensor<&T::peak_bf16>, "published peak, bf16 and fp16"},
    {"tensor.peak_tf32", "TFLOPS", tensor<&T::peak_tf32>, "published peak, tf32"},
    {"tensor.peak_fp32", "TFLOPS", tensor<&T::peak_fp32>, "published peak, fp32"},
    {"tensor.peak_fp8", "TFLOPS", tensor<&T::peak_fp8>, "published peak, fp8"},
    {"tensor.peak_mx", "TFLOPS", tensor<&T::peak_mx>, "published peak, MXFP8 and MXFP4"},
    {"tensor.peak_sparse", "TFLOPS", tensor<&T::peak_sparse>, "published peak, structured sparsity"},
    {"tensor.peak_int8", "TOPS", tensor<&T::peak_int8>, "published peak, int8"},
    {"tensor.achieved_bf16", "TFLOPS", tensor<&T::achieved_bf16>,
     "best rate that a kernel was seen to reach"},
    {"tensor.ramp.initial_rate", "ratio", ramp<&ClockRamp::initial_rate>,
     "share of the full rate after idling"},
    {"tensor.ramp.full_after", "ns", ramp<&ClockRamp::full_after>, "activity until the full rate is allowed"},
    {"tensor.ramp.rearm_window", "ns", ramp<&ClockRamp::rearm_window>, "window whose utilisation is watched"},
    {"tensor.ramp.rearm_threshold", "ratio", ramp<&ClockRamp::rearm_threshold>, "below it the limit returns"},

    {"vector.clock", "GHz", vector<&V::clock>, "clock of the Vector Engine"},
    {"vector.lanes", "elements/cycle", vector<&V::lanes>, "elements per cycle, one per partition"},
    {"vector.min_issue_cycles", "cycles", vector<&V::min_issue_cycles>,
     "shortest interval between instructions"},
    {"vector.dynamic_address_cycles", "cycles", vector<&V::dynamic_address_cycles>,
     "the same with a run-time address"},
    {"vector.drain", "ns", vector<&V::drain>, "result visible after the engine is free again"},
    {"vector.operand_read", "ns", vector<&V::operand_read>,
     "later still for each [P, 1] tile read as a scalar"},
    {"vector.copy_fp32_speedup", "ratio", vector<&V::copy_fp32_speedup>,
     "copy and tensor_scalar, 32-bit, SBUF to SBUF"},
    {"vector.copy_fp32_psum_speedup", "ratio", vector<&V::copy_fp32_psum_speedup>,
     "the same with PSUM on one side"},
    {"vector.copy_16bit_speedup", "ratio", vector<&V::copy_16bit_speedup>,
     "copy and tensor_scalar, 16-bit, SBUF, unit stride"},
    {"vector.copy_16bit_psum_speedup", "ratio", vector<&V::copy_16bit_psum_speedup>,
     "the same, PSUM on one side or strided"},
    {"vector.tensor_tensor_16bit_speedup", "ratio", vector<&V::tensor_tensor_16bit_speedup>,
     "tensor_tensor, 16-bit, all in SBUF"},
    {"vector.reduce_16bit_speedup", "ratio", vector<&V::reduce_16bit_speedup>,
     "tensor_reduce add or max, 16-bit in and out"},
    {"vector.memset_speedup", "ratio", vector<&V::memset_speedup>, "memset of a 16-bit type to zero"},
    {"vector.tensor_tensor_cycles", "cycles/element", vector<&V::tensor_tensor_cycles>,
     "tensor_tensor, both inputs in SBUF"},
    {"vector.tensor_tensor_psum_cycles", "cycles/element", vector<&V::tensor_tensor_psum_cycles>,
     "tensor_tensor, one input in PSUM"},
    {"vector.scalar_tensor_tensor_cycles", "cycles/element", vector<&V::scalar_tensor_tensor_cycles>,
     "scalar_tensor_tensor"},
    {"vector.reciprocal_cycles", "cycles/element", vector<&V::reciprocal_cycles>, "reciprocal"},
    {"vector.scan_cycles", "cycles/element", vector<&V::scan_cycles>, "tensor_tensor_scan"},
    {"vector.bn_stats_cycles", "cycles/element", vector<&V::bn_stats_cycles>, "bn_stats"},
    {"vector.bn_aggr_cycles", "cycles/element", vector<&V::bn_aggr_cycles>, "bn_aggr"},
    {"vector.predicated_copy_cycles", "cycles/element", vector<&V::predicated_copy_cycles>,
     "tensor_copy_predicated, fp32"},
    {"vector.accumulator_read_cycles", "cycles", vector<&V::accumulator_read_cycles>,
     "read-out after a fused reduction"},
    {"vector.exponential_speedup", "ratio", vector<&V::exponential_speedup>,
     "exponential against one element per cycle"},
    {"vector.quantize_mx_speedup", "ratio", vector<&V::quantize_mx_speedup>,
     "quantize_mx against one element per cycle"},
    {"vector.random_speedup", "ratio", vector<&V::random_speedup>, "random numbers per lane and cycle"},
    {"vector.peak_fp32", "TFLOPS", vector<&V::peak_fp32>, "published peak, fp32"},

    {"scalar.clock", "GHz", scalar<&S::clock>, "clock of the Scalar Engine"},
    {"scalar.lanes", "elements/cycle", scalar<&S::lanes>, "elements per cycle, one per partition"},
    {"scalar.min_issue_cycles", "cycles", scalar<&S::min_issue_cycles>,
     "shortest interval between instructions"},
    {"scalar.dynamic_address_cycles", "cycles", scalar<&S::dynamic_address_cycles>,
     "the same with a run-time address"},
    {"scalar.activation_drain", "ns", scalar<&S::activation_drain>,
     "result visible after the engine is free: functions"},
    {"scalar.copy_drain", "ns", scalar<&S::copy_drain>, "the same for plain copies"},
    {"scalar.psum_saving", "ns", scalar<&S::psum_saving>, "earlier with the input in PSUM"},
    {"scalar.operand_read", "ns", scalar<&S::operand_read>,
     "later for each [P, 1] scale or bias; functions include the bias"},
    {"scalar.cycles_per_element", "cycles/element", scalar<&S::cycles_per_element>,
     "any activation function"},
    {"scalar.narrow_speedup", "ratio", scalar<&S::narrow_speedup>, "copy and tensor_scalar of 16-bit types"},
    {"scalar.table_load", "ns", scalar<&S::table_load>, "switch to another set of function tables"},
    {"scalar.accumulator_read_cycles", "cycles", scalar<&S::accumulator_read_cycles>,
     "read-out after a fused reduction"},
    {"scalar.accumulator_read_drain", "ns", scalar<&S::accumulator_read_drain>,
     "its result visible after that"},
    {"scalar.table_sets", "", scalar<&S::table_sets>, "functions that are loaded together"},
    {"scalar.peak_fp32", "TFLOPS", scalar<&S::peak_fp32>, "published peak, fp32"},

    {"gpsimd.clock", "GHz", gpsimd<&G::clock>, "clock of the GpSimd Engine"},
    {"gpsimd.lanes", "elements/cycle", gpsimd<&G::lanes>, "32-bit elements per cycle"},
    {"gpsimd.processors", "count", gpsimd<&G::processors>, "processors"},
    {"gpsimd.processor_width", "bits", gpsimd<&G::processor_width>, "vector width of one processor"},
    {"gpsimd.partitions_per_processor", "count", gpsimd<&G::partitions_per_processor>,
     "partitions that one processor serves"},
    {"gpsimd.local_memory", "B", gpsimd<&G::local_memory>, "tightly coupled memory per processor"},
    {"gpsimd.local_memory_latency", "cycles", gpsimd<&G::local_memory_latency>, "latency of that memory"},
    {"gpsimd.start_cycles", "cycles", gpsimd<&G::start_cycles>, "start of a software instruction"},
    {"gpsimd.drain", "ns", gpsimd<&G::drain>, "result visible after the engine is free again"},
    {"gpsimd.cycles_per_element", "cycles/element", gpsimd<&G::cycles_per_element>,
     "elementwise instructions"},
    {"gpsimd.rsqrt_cycles", "cycles/element", gpsimd<&G::rsqrt_cycles>, "rsqrt"},
    {"gpsimd.partition_reduce_cycles", "cycles/element", gpsimd<&G::partition_reduce_cycles>,
     "tensor_partition_reduce, per free element"},
    {"gpsimd.topk_cycles", "cycles/element", gpsimd<&G::topk_cycles>,
     "topk, per input element (one more per result)"},
    {"gpsimd.gather_fixed_cycles", "cycles", gpsimd<&G::gather_fixed_cycles>,
     "local_gather, beside each run of elements"},
    {"gpsimd.gather_element_cycles", "cycles/element", gpsimd<&G::gather_element_cycles>,
     "local_gather, useful cycles of a run's element"},
    {"gpsimd.gather_group", "count", gpsimd<&G::gather_group>,
     "nc_n_gather: elements per partition of one hardware instruction"},
    {"gpsimd.random_cycles", "cycles/element", gpsimd<&G::random_cycles>,
     "rng, per random word of a partition"},
    {"gpsimd.nonzero_cycles", "cycles/element", gpsimd<&G::nonzero_cycles>,
     "nonzero_with_count, per input element"},
    {"gpsimd.dma_bandwidth", "GB/s", gpsimd<&G::dma_bandwidth>, "the engine's own DMA, both directions"},
    {"gpsimd.dma_bandwidth_each_way", "GB/s", gpsimd<&G::dma_bandwidth_each_way>,
     "the engine's own DMA, one direction"},
    {"gpsimd.send_bytes_max", "B", gpsimd<&G::send_bytes_max>,
     "sendrecv through it: most bytes per partition (32-bit)"},

    {"sbuf.partitions", "count", sbuf<&Sbuf::partitions>, "partitions"},
    {"sbuf.bytes_per_partition", "B", sbuf<&Sbuf::bytes_per_partition>, "size of a partition"},
    {"sbuf.usable_bytes_per_partition", "B", sbuf<&Sbuf::usable_bytes_per_partition>,
     "what the compiler leaves to kernels"},
    {"sbuf.port_elements_per_cycle", "elements/cycle", sbuf<&Sbuf::port_elements_per_cycle>,
     "one engine's read or write port"},
    {"sbuf.port_clock", "GHz", sbuf<&Sbuf::port_clock>, "clock of the ports"},
    {"sbuf.access_start_cycles", "cycles", sbuf<&Sbuf::access_start_cycles>,
     "start of a tensor access, partly hidden"},
    {"sbuf.stride_threshold", "B", sbuf<&Sbuf::stride_threshold>, "a larger innermost stride is slow"},
    {"sbuf.stride_slowdown", "ratio", sbuf<&Sbuf::stride_slowdown>, "how slow"},
    {"sbuf.min_align", "B", sbuf<&Sbuf::min_align>, "address step within a partition"},
    {"sbuf.vector_gpsimd_exclusive", "", sbuf<&Sbuf::vector_gpsimd_exclusive>,
     "Vector and GpSimd lock each other out of SBUF"},

    {"psum.partitions", "count", psum<&Psum::partitions>, "partitions"},
    {"psum.banks", "count", psum<&Psum::banks>, "banks per partition"},
    {"psum.bank_bytes", "B", psum<&Psum::bank_bytes>, "size of a bank in one partition"},
    {"psum.matmul_banks_max", "count", psum<&Psum::matmul_banks_max>, "banks that one matmul may write"},
    {"psum.accumulate_bytes", "B", psum<&Psum::accumulate_bytes>, "size of an accumulated element"},
    {"psum.min_align", "B", psum<&Psum::min_align>, "address step within a partition"},
    {"psum.accumulates_bf16", "", psum<&Psum::accumulates_bf16>, "accumulation in bf16 is possible"},
    {"psum.vector_scalar_exclusive", "", psum<&Psum::vector_scalar_exclusive>,
     "Vector and Scalar lock each other out of PSUM"},
    {"psum.bank_conflicts", "", psum<&Psum::bank_conflicts>,
     "Vector and Scalar slow each other within one bank"},

    {"sync.semaphores", "count", sync<&Sync::semaphores>, "semaphores"},
    {"sync.events", "count", sync<&Sync::events>, "events"},
    {"sync.registers", "count", sync<&Sync::registers>, "32-bit registers per engine"},
    {"sync.instruction_streams", "count", sync<&Sync::instruction_streams>, "instruction streams"},
    {"sync.semaphore_latency", "ns", sync<&Sync::semaphore_latency>,
     "one engine done until a waiting engine starts"},
    {"sync.dispatch", "ns", sync<&Sync::dispatch>, "an engine takes an instruction from its stream"},
    {"sync.semaphore_instruction", "ns", sync<&Sync::semaphore_instruction>,
     "a stand-alone semaphore instruction"},
    {"sync.register_move", "ns", sync<&Sync::register_move>, "move of a value to a register"},
    {"sync.register_access", "ns", sync<&Sync::register_access>,
     "load of a value from memory to a register, or its store"},
    {"sync.branch", "ns", sync<&Sync::branch>, "turn of a hardware loop"},
    {"sync.core_barrier", "ns", sync<&Sync::core_barrier>, "barrier of the two cores of a logical core"},

    {"dma.engines", "count", dma<&Dma::engines>, "DMA engines of one core"},
    {"dma.queues_per_engine", "count", dma<&Dma::queues_per_engine>, "queues per engine"},
    {"dma.partitions_per_engine", "count", dma<&Dma::partitions_per_engine>,
     "SBUF partitions that one engine serves"},
    {"dma.peak_rate", "GB/s", dma<&Dma::peak_rate>, "one engine, theoretical"},
    {"dma.sustained_rate", "GB/s", dma<&Dma::sustained_rate>, "one engine, sustained"},
    {"dma.transfer_fixed", "ns", dma<&Dma::transfer_fixed>,
     "of an engine between two transfers of a queue"},
    {"dma.descriptor_fixed", "ns", dma<&Dma::descriptor_fixed>, "time of a descriptor beside its bytes"},
    {"dma.descriptor_bytes", "B", dma<&Dma::descriptor_bytes>, "size of a descriptor"},
    {"dma.descriptor_payload_max", "B", dma<&Dma::descriptor_payload_max>,
     "most bytes that one descriptor moves"},
    {"dma.packet_bytes", "B", dma<&Dma::packet_bytes>, "queues take turns after so many bytes"},
    {"dma.efficient_bytes", "B", dma<&Dma::efficient_bytes>, "advised least contiguous run per partition"},
    {"dma.saturating_bytes", "B", dma<&Dma::saturating_bytes>, "run from which the rate is full"},
    {"dma.issue", "ns", dma<&Dma::issue>, "the triggering engine is busy, prebuilt descriptors"},
    {"dma.trigger_latency", "ns", dma<&Dma::trigger_latency>,
     "trigger until the first engine moves data, load"},
    {"dma.store_trigger_latency", "ns", dma<&Dma::store_trigger_latency>,
     "trigger until the first engine moves data, store"},
    {"dma.spread", "ns", dma<&Dma::spread>, "between the engines of one transfer, first and last"},
    {"dma.completion_latency", "ns", dma<&Dma::completion_latency>,
     "last byte until a waiting engine starts"},
    {"dma.start_latency", "ns", dma<&Dma::start_latency>,
     "semaphore to start of a DMA of another engine, as documented"},
    {"dma.software_descriptor", "ns", dma<&Dma::software_descriptor>, "GpSimd builds one descriptor"},
    {"dma.semaphore_increment", "count", dma<&Dma::semaphore_increment>,
     "increments of a finished transfer, one per engine"},
    {"dma.descriptor_generators", "count", dma<&Dma::descriptor_generators>,
     "hardware descriptor generators of one core"},
    {"dma.hardware_issue", "ns", dma<&Dma::hardware_issue>, "one DMA instruction in a hardware generator"},
    {"dma.transpose_hbm_fraction", "ratio", dma<&Dma::transpose_hbm_fraction>,
     "transposing load against a copy"},
    {"dma.transpose_sbuf_fraction", "ratio", dma<&Dma::transpose_sbuf_fraction>,
     "transpose within SBUF against a copy"},
    {"dma.compute_fraction", "ratio", dma<&Dma::compute_fraction>, "accumulating DMA against a copy"},
    {"dma.qos_classes", "count", dma<&Dma::qos_classes>, "priorities; round robin where absent"},

    {"launch.neff", "ns", launch<&Launch::neff>, "fixed device time of one executable"},
    {"launch.profile", "ns", launch<&Launch::profile>, "the same as the profiler's total counts it"},
    {"launch.session", "ns", launch<&Launch::session>, "the same as show-session's CycleCount counts it"},
    {"launch.host_synchronous", "ns", launch<&Launch::host_synchronous>, "host time of a call that waits"},
    {"launch.host_asynchronous", "ns", launch<&Launch::host_asynchronous>,
     "host time of a call that does not"},
    {"launch.microcode_bytes", "B", launch<&Launch::microcode_bytes>, "HBM taken by microcode"},
  }};
  // clang-format on
  return kSchema;
}

}  // namespace trnsim::catalog
