// Waits on one engine until every core of the logical core has come to its barrier. `data` is the
// shared tensor that it is about, or a tile of the core's own: accesses to it before and after the
// barrier keep their order, the other engines go on.
#include "isa/instruction.h"

namespace trnsim::isa {
namespace {

struct CoreBarrier {
  Tile data;
  IntList cores;
  Engine engine = Engine::kGpsimd;

  static constexpr Info kInfo{
      .name = "core_barrier",
      .summary = "wait until all cores of the logical core have reached their barrier",
      .engines = "Tensor, Vector, Scalar, GpSimd (the default), Sync",
      .cost = "the last core's arrival + sync.core_barrier",
      .source = "NKI documentation, nki.isa.core_barrier",
      .since = 3};
  static constexpr std::tuple kFields{order("data", &CoreBarrier::data),
                                      arg("cores", &CoreBarrier::cores),
                                      opt("engine", &CoreBarrier::engine)};

  Engine engine_on(int) const { return engine == Engine::kUnknown ? Engine::kGpsimd : engine; }
  Meeting meeting() const { return {.kind = MeetingKind::kBarrier, .data = &data}; }

  void check(const Rules& rules) const {
    const memory::Allocation& tensor = rules.memory().allocation(data.tensor);
    if (!data.on_chip() && !tensor.shared) {
      rules.fail("data",
                 "data must be in HBM that the cores share (nl.shared_hbm); '{}' is private",
                 tensor.name);
    }
    if (engine == Engine::kDma) rules.fail("engine", "a DMA queue cannot wait in a barrier");
    const int launched = rules.place().cores;
    bool all = cores.size == launched;
    for (int i = 0; all && i < launched; ++i) all = cores.values[i] == i;
    if (all) return;
    std::string named;
    for (int i = 0; i < cores.size; ++i)
      named += fmt::format("{}{}", i ? ", " : "", cores.values[i]);
    rules.fail("cores",
               "cores is ({}), but the kernel is launched on {} core{}: name each once, {}", named,
               launched, launched == 1 ? "" : "s",
               launched == 1 ? "(0,), or launch it as kernel[2]" : "in order, (0, 1)");
  }

  void execute(CoreState&) const {}

  Cost cost(const CostModel& model) const {
    const auto& barrier = model.core().sync.core_barrier;
    if (!barrier)
      unsupported("core_barrier on {}, because its file gives no sync.core_barrier",
                  model.core().name);
    return {.occupancy = from_ns(*barrier), .latency = from_ns(*barrier)};
  }
};

}  // namespace

InstructionType insn_core_barrier() { return describe<CoreBarrier>(); }

}  // namespace trnsim::isa
