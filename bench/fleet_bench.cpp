// How fast layouts are evaluated, and how long a step of half a million chips takes event by event.
// The search is the one that Calculon publishes a time for: Turing-NLG 530B on 5,128 A100. Run
// Calculon beside it with: calculon llm-optimal-execution models/turing-530B.json 5128 2520 float16
// systems/a100_80g.json out.json
#include <benchmark/benchmark.h>

#include "fleet/event_step.h"
#include "fleet/presets.h"
#include "fleet/search.h"

namespace trnsim::bench {
namespace {

void search_turing(benchmark::State& state) {
  const fleet::Model model = fleet::find_model("turing-530b", "models");
  const fleet::Machine machine = fleet::find_machine("a100_80:5040", catalog::load("hardware"));
  fleet::Evaluator evaluator(model, machine);
  fleet::Request request;
  request.global_batch = 2520;
  request.sequence = 2048;
  std::int64_t tried = 0;
  for (auto _ : state) tried += fleet::search(request, evaluator).tried;
  state.SetItemsProcessed(tried);
}
BENCHMARK(search_turing)->Name("fleet/search_turing_530b_on_5040")->Unit(benchmark::kMillisecond);

void rainier(benchmark::State& state) {
  const fleet::Model model = fleet::find_model("llama3.1-405b", "models");
  const fleet::Machine machine = fleet::find_machine("rainier:500000", catalog::load("hardware"));
  fleet::Evaluator evaluator(model, machine);
  fleet::Layout layout;
  layout.tp = 32;
  layout.pp = 10;
  layout.dp = machine.ranks() / 320;
  layout.sp = true;
  layout.zero = 1;
  layout.sequence = 8192;
  layout.global_batch = 16 * layout.dp;
  for (auto _ : state)
    benchmark::DoNotOptimize(
        fleet::event_step(evaluator, layout, {.count = 1000, .slowdown = 1.3, .jitter = 0.05}));
}
BENCHMARK(rainier)->Name("fleet/event_step_of_500000_chips")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace trnsim::bench
