// Rows for instances, scale-up systems, clusters and GPUs.
#include "catalog/cluster.h"
#include "catalog/gpu.h"
#include "catalog/instance.h"
#include "catalog/schema.h"
#include "catalog/system.h"
#include "catalog/training.h"

namespace trnsim::catalog {

// clang-format off
const Schema& instance_schema() {
  using I = Instance;
  static const Schema kSchema{"instance", {
    {"chip", "", at<I, &I::chip>, "which chip"},
    {"gpu", "", at<I, &I::gpu>, "which GPU"},
    {"accelerators", "count", at<I, &I::accelerators>, "chips or GPUs"},
    {"topology", "", at<I, &I::topology>, "how they are joined"},
    {"device_memory", "GiB", at<I, &I::device_memory>, "memory of all accelerators"},
    {"device_bandwidth", "GB/s", at<I, &I::device_bandwidth>, "memory bandwidth of all accelerators"},
    {"link_bandwidth", "GB/s", at<I, &I::link_bandwidth>,
     "per accelerator, all links within, both directions"},
    {"outer_link_bandwidth", "GB/s", at<I, &I::outer_link_bandwidth>,
     "the same, to the other instances of an UltraServer"},
    {"peak_bf16", "TFLOPS", at<I, &I::peak_bf16>, "published, bf16 and fp16"},
    {"peak_fp32", "TFLOPS", at<I, &I::peak_fp32>, "published, fp32"},
    {"peak_fp8", "TFLOPS", at<I, &I::peak_fp8>, "published, fp8"},
    {"peak_sparse", "TFLOPS", at<I, &I::peak_sparse>, "published, structured sparsity"},
    {"peak_int8", "TOPS", at<I, &I::peak_int8>, "published, int8"},
    {"power", "kW", at<I, &I::power>, "of the server"},
    {"host.vcpus", "count", at<I, &I::host, &Host::vcpus>, "virtual processors"},
    {"host.memory", "GiB", at<I, &I::host, &Host::memory>, "host memory"},
    {"host.sockets", "count", at<I, &I::host, &Host::sockets>, "sockets"},
    {"host.clock", "GHz", at<I, &I::host, &Host::clock>, "clock"},
    {"host.processor", "", at<I, &I::host, &Host::processor>, "processor"},
    {"network.bandwidth", "Gbps", at<I, &I::network, &Network::bandwidth>, "network, baseline"},
    {"network.burst_bandwidth", "Gbps", at<I, &I::network, &Network::burst_bandwidth>, "network, at best"},
    {"network.efa", "Gbps", at<I, &I::network, &Network::efa>, "Elastic Fabric Adapters, all cards"},
    {"network.efa_cards", "count", at<I, &I::network, &Network::efa_cards>, "EFA cards"},
    {"network.efa_generation", "", at<I, &I::network, &Network::efa_generation>, "EFA generation"},
    {"network.efa_latency", "us", at<I, &I::network, &Network::efa_latency>,
     "device memory to device memory of another server"},
    {"storage.ebs", "Gbps", at<I, &I::storage, &Storage::ebs>, "to Elastic Block Store"},
    {"storage.nvme", "TB", at<I, &I::storage, &Storage::nvme>, "local disks"},
    {"price.on_demand", "USD/h", at<I, &I::price, &Price::on_demand>, "On-Demand, us-east-1, Linux"},
    {"price.previous_on_demand", "USD/h", at<I, &I::price, &Price::previous_on_demand>,
     "the same before the last cut"},
    {"price.reserved", "USD/h", at<I, &I::price, &Price::reserved>, "effective reserved rate"},
    {"price.capacity_block", "USD/h", at<I, &I::price, &Price::capacity_block>, "Capacity Block"},
    {"price.govcloud", "USD/h", at<I, &I::price, &Price::govcloud>, "On-Demand, GovCloud"},
  }};
  return kSchema;
}

const Schema& system_schema() {
  using S = System;
  using F = SystemFabric;
  static const Schema kSchema{"system", {
    {"chip", "", at<S, &S::chip>, "which chip"},
    {"gpu", "", at<S, &S::gpu>, "which GPU"},
    {"instance", "", at<S, &S::instance>, "which instance each server is"},
    {"accelerators", "count", at<S, &S::accelerators>, "chips or GPUs"},
    {"servers", "count", at<S, &S::servers>, "servers"},
    {"accelerators_per_server", "count", at<S, &S::accelerators_per_server>, "chips or GPUs of one server"},
    {"racks", "count", at<S, &S::racks>, "racks"},
    {"vcpus", "count", at<S, &S::vcpus>, "virtual processors"},
    {"host_memory", "GiB", at<S, &S::host_memory>, "host memory"},
    {"device_memory", "GiB", at<S, &S::device_memory>, "memory of all accelerators"},
    {"device_bandwidth", "GB/s", at<S, &S::device_bandwidth>, "memory bandwidth of all accelerators"},
    {"efa", "Gbps", at<S, &S::efa>, "Elastic Fabric Adapters, all servers"},
    {"power", "kW", at<S, &S::power>, "of the whole system"},
    {"cooling", "", at<S, &S::cooling>, "cooling"},
    {"host_processor", "", at<S, &S::host_processor>, "host processor"},
    {"peak_bf16", "PFLOPS", at<S, &S::peak_bf16>, "published, bf16 and fp16"},
    {"peak_fp32", "PFLOPS", at<S, &S::peak_fp32>, "published, fp32"},
    {"peak_fp8", "PFLOPS", at<S, &S::peak_fp8>, "published, fp8"},
    {"peak_mx", "PFLOPS", at<S, &S::peak_mx>, "published, MXFP8 and MXFP4"},
    {"peak_sparse", "PFLOPS", at<S, &S::peak_sparse>, "published, structured sparsity"},
    {"capacity_block", "USD/h", at<S, &S::capacity_block>, "price as a Capacity Block"},
    {"fabric.topology", "", at<S, &S::fabric, &F::topology>, "how the accelerators are joined"},
    {"fabric.link_bandwidth", "GB/s", at<S, &S::fabric, &F::link_bandwidth>,
     "per accelerator, all links, both directions"},
    {"fabric.outer_link_bandwidth", "GB/s", at<S, &S::fabric, &F::outer_link_bandwidth>,
     "per accelerator, to other servers, both directions"},
    {"fabric.hops_max", "count", at<S, &S::fabric, &F::hops_max>, "longest route"},
    {"fabric.switch_levels", "count", at<S, &S::fabric, &F::switch_levels>, "levels of switches"},
    {"fabric.hop_latency", "ns", at<S, &S::fabric, &F::hop_latency>, "one step between accelerators"},
  }};
  return kSchema;
}

const Schema& cluster_schema() {
  using C = Cluster;
  static const Schema kSchema{"cluster", {
    {"chip", "", at<C, &C::chip>, "which chip"},
    {"gpu", "", at<C, &C::gpu>, "which GPU"},
    {"system", "", at<C, &C::system>, "scale-up system it is built of"},
    {"instance", "", at<C, &C::instance>, "instance it is built of"},
    {"mix", "", at<C, &C::mix>, "accelerators by kind, where mixed"},
    {"accelerators", "count", at<C, &C::accelerators>, "chips or GPUs"},
    {"accelerators_planned", "count", at<C, &C::accelerators_planned>, "announced"},
    {"buildings", "count", at<C, &C::buildings>, "buildings in use"},
    {"buildings_planned", "count", at<C, &C::buildings_planned>, "buildings announced"},
    {"power", "MW", at<C, &C::power>, "power"},
    {"power_planned", "MW", at<C, &C::power_planned>, "power announced"},
    {"building_power", "MW", at<C, &C::building_power>, "IT power of one building"},
    {"power_overhead", "ratio", at<C, &C::power_overhead>, "facility power against IT power"},
    {"investment", "USD", at<C, &C::investment>, "cost of the site"},
    {"peak_bf16", "EFLOPS", at<C, &C::peak_bf16>, "bf16"},
    {"peak_fp8", "EFLOPS", at<C, &C::peak_fp8>, "fp8"},
    {"fabric", "", at<C, &C::fabric>, "network between systems"},
    {"server_network", "Gbps", at<C, &C::server_network>, "network of one server"},
    {"network_latency", "us", at<C, &C::network_latency>, "device memory to device memory of another server"},
    {"oversubscription", "ratio", at<C, &C::oversubscription>, "edge bandwidth against core bandwidth"},
  }};
  return kSchema;
}

const Schema& gpu_schema() {
  using G = Gpu;
  using R = GpuRates;
  static const Schema kSchema{"gpu", {
    {"peak_bf16", "TFLOPS", at<G, &G::peak_bf16>, "bf16 and fp16"},
    {"peak_tf32", "TFLOPS", at<G, &G::peak_tf32>, "tf32"},
    {"peak_fp32", "TFLOPS", at<G, &G::peak_fp32>, "fp32, without tensor cores"},
    {"peak_fp8", "TFLOPS", at<G, &G::peak_fp8>, "fp8"},
    {"peak_fp4", "TFLOPS", at<G, &G::peak_fp4>, "fp4"},
    {"peak_int8", "TOPS", at<G, &G::peak_int8>, "int8"},
    {"sparse_bf16", "TFLOPS", at<G, &G::sparse_bf16>, "bf16 with 2:4 sparsity"},
    {"sparse_fp8", "TFLOPS", at<G, &G::sparse_fp8>, "fp8 with 2:4 sparsity"},
    {"sparse_fp4", "TFLOPS", at<G, &G::sparse_fp4>, "fp4 with 2:4 sparsity"},
    {"memory", "GB", at<G, &G::memory>, "device memory"},
    {"memory_bandwidth", "GB/s", at<G, &G::memory_bandwidth>, "bandwidth of device memory"},
    {"link_bandwidth", "GB/s", at<G, &G::link_bandwidth>, "NVLink, all links, both directions"},
    {"host_link", "GB/s", at<G, &G::host_link>, "PCIe, both directions"},
    {"power", "W", at<G, &G::power>, "thermal design power"},
    {"transistors", "count", at<G, &G::transistors>, "transistors"},
    {"rates.multiprocessors", "count", at<G, &G::rates, &R::multiprocessors>, "streaming multiprocessors"},
    {"rates.matmul", "ratio", at<G, &G::rates, &R::matmul>, "of the bf16 peak, the best matrix product"},
    {"rates.memory", "ratio", at<G, &G::rates, &R::memory>, "of the memory bandwidth, a long copy"},
    {"rates.flash_forward", "ratio", at<G, &G::rates, &R::flash_forward>, "of the bf16 peak, attention forwards"},
    {"rates.flash_backward", "ratio", at<G, &G::rates, &R::flash_backward>, "of the bf16 peak, attention backwards"},
    {"rates.launch", "us", at<G, &G::rates, &R::launch>, "from the end of a kernel to the start of the next"},
    {"rates.busbw", "GB/s", at<G, &G::rates, &R::busbw>, "bus bandwidth of a large all_reduce within a server"},
    {"rates.reserved", "GB", at<G, &G::rates, &R::reserved>, "memory of the context and of communication"},
  }};
  return kSchema;
}
const Schema& training_schema() {
  using T = Training;
  static const Schema kSchema{"training", {
    {"chip", "", at<T, &T::chip>, "which chip"},
    {"gpu", "", at<T, &T::gpu>, "which GPU"},
    {"efficiency", "ratio", at<T, &T::efficiency>, "what software reaches of modelled operator speed"},
    {"faster", "ratio", at<T, &T::faster>, "measured against predicted time, low end of the interval"},
    {"slower", "ratio", at<T, &T::slower>, "measured against predicted time, high end of the interval"},
    {"calibrated", "", at<T, &T::calibrated>, "from measurements on this accelerator"},
    {"interruption", "h", at<T, &T::interruption>, "accelerator-hours between interruptions of a job"},
    {"restart", "min", at<T, &T::restart>, "from an interruption until training goes on"},
    {"power", "W", at<T, &T::power>, "of one accelerator with its share of the server, in training"},
  }};
  return kSchema;
}
// clang-format on

}  // namespace trnsim::catalog
