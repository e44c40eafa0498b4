// How fast the clock goes through a long program: tiles of a matrix product, each loaded,
// multiplied, added and stored.
#include <benchmark/benchmark.h>

#include "catalog/catalog.h"
#include "core/call.h"
#include "timing/clock.h"

namespace trnsim::bench {
namespace {

using isa::Space;
using core::Call;
using core::Tensors;
using numerics::Dtype;

constexpr std::size_t kInstructions = 200'000;
constexpr int kBuffers = 4;  // tiles in turn, so that loads run ahead

void issue_tiles(core::NeuronCore& core, Tensors& tensors) {
  const isa::Tile weights = tensors.on_chip(Space::kSbuf, Dtype::kBfloat16, 128, 128);
  const isa::Tile bias = tensors.on_chip(Space::kSbuf, Dtype::kFloat32, 128, 512);
  const isa::Tile from = tensors.hbm(Dtype::kBfloat16, 128, 512),
                  to = tensors.hbm(Dtype::kFloat32, 128, 512);
  std::vector<Call> turn;
  for (int i = 0; i < kBuffers; ++i) {
    const isa::Tile moving = tensors.on_chip(Space::kSbuf, Dtype::kBfloat16, 128, 512);
    const isa::Tile product = tensors.on_chip(Space::kPsum, Dtype::kFloat32, 128, 512);
    const isa::Tile sum = tensors.on_chip(Space::kSbuf, Dtype::kFloat32, 128, 512);
    turn.push_back(Call("dma_copy").set("dst", moving).set("src", from));
    turn.push_back(
        Call("nc_matmul").set("dst", product).set("stationary", weights).set("moving", moving));
    turn.push_back(Call("tensor_tensor").set("dst", sum).set("data1", product).set("data2", bias));
    turn.push_back(Call("dma_copy").set("dst", to).set("src", sum));
  }
  while (core.program().size() < kInstructions) {
    for (const Call& call : turn) call.issue(core);
  }
}

void clock(benchmark::State& state) {
  const catalog::Catalog catalog = catalog::load("hardware");
  const catalog::Chip& chip = catalog.chip("trn2");
  core::NeuronCore core(chip.core, {.values = false});
  Tensors tensors(core);
  issue_tiles(core, tensors);
  for (auto _ : state) benchmark::DoNotOptimize(timing::clock(core.program(), chip));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(core.program().size()));
}
BENCHMARK(clock)->Name("clock/200k_instructions")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trnsim::bench
