// What one instruction costs from its issue to its result in memory.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "catalog/catalog.h"
#include "core/call.h"

namespace trnsim::bench {
namespace {

using isa::Space;
using core::Call;
using core::Tensors;
using numerics::Dtype;

constexpr std::size_t kProgramMax = 4096;  // instructions kept before the record starts anew

core::NeuronCore new_core() {
  static const catalog::Catalog catalog = catalog::load("hardware");
  return core::NeuronCore(catalog.core("v3"), {});
}

void repeat(benchmark::State& state, core::NeuronCore& core, const Call& call) {
  for (auto _ : state) {
    call.issue(core);
    if (core.program().size() >= kProgramMax) core.program() = {};
  }
}

void nc_matmul(benchmark::State& state, Dtype dtype) {
  core::NeuronCore core = new_core();
  Tensors tensors(core);
  const Call call = Call("nc_matmul")
                        .set("dst", tensors.on_chip(Space::kPsum, Dtype::kFloat32, 128, 512))
                        .set("stationary", tensors.on_chip(Space::kSbuf, dtype, 128, 128))
                        .set("moving", tensors.on_chip(Space::kSbuf, dtype, 128, 512))
                        .set("accumulate", isa::OptionalInt{0, true});
  repeat(state, core, call);
  state.counters["GFLOPS"] =
      benchmark::Counter(2e-9 * 128 * 128 * 512, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(nc_matmul, 128x128x512_bf16, Dtype::kBfloat16);
BENCHMARK_CAPTURE(nc_matmul, 128x128x512_fp32, Dtype::kFloat32);

// The baseline: the same product by OpenBLAS, one thread. Integers are 32 or 64 bits wide, after
// how the library was built; passed as 64 bits they serve both on the hosts that we know.
using Sgemm = void (*)(std::int64_t order, std::int64_t trans_a, std::int64_t trans_b,
                       std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a,
                       std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
                       std::int64_t ldc);

Sgemm find_sgemm() {
  setenv("OPENBLAS_NUM_THREADS", "1", 0);
  const char* named =
      std::getenv("TRNSIM_OPENBLAS");  // file of the library, where it has another name
  void* library = dlopen(named ? named : "libopenblas.so.0", RTLD_NOW);
  for (const char* symbol : {"cblas_sgemm", "scipy_cblas_sgemm", "scipy_cblas_sgemm64_"}) {
    void* found = library ? dlsym(library, symbol) : nullptr;
    if (found) return reinterpret_cast<Sgemm>(found);
  }
  return nullptr;
}

void openblas_sgemm(benchmark::State& state) {
  const Sgemm sgemm = find_sgemm();
  if (!sgemm) return state.SkipWithError("no OpenBLAS: set TRNSIM_OPENBLAS to the library's file");
  constexpr std::int64_t kRowMajor = 101, kPlain = 111, kTransposed = 112;
  const std::vector<float> a(128 * 128, 0.5f), b(128 * 512, 0.5f);
  std::vector<float> c(128 * 512);
  for (auto _ : state) {
    sgemm(kRowMajor, kTransposed, kPlain, 128, 512, 128, 1, a.data(), 128, b.data(), 512, 0,
          c.data(), 512);
    benchmark::ClobberMemory();
  }
  state.counters["GFLOPS"] =
      benchmark::Counter(2e-9 * 128 * 128 * 512, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(openblas_sgemm)->Name("openblas_sgemm/128x128x512");

void tensor_tensor(benchmark::State& state) {
  core::NeuronCore core = new_core();
  Tensors tensors(core);
  const int columns = static_cast<int>(state.range(0));
  const auto tile = [&] { return tensors.on_chip(Space::kSbuf, Dtype::kFloat32, 128, columns); };
  repeat(state, core,
         Call("tensor_tensor").set("dst", tile()).set("data1", tile()).set("data2", tile()));
  state.SetItemsProcessed(state.iterations() * 128 * columns);
}
BENCHMARK(tensor_tensor)->Name("tensor_tensor/fp32_128x")->Arg(512)->Arg(16);

}  // namespace
}  // namespace trnsim::bench
