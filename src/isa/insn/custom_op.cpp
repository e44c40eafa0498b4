// A custom operator in C++ on the GpSimd Engine. Its code ran on the host, one process for each
// processor, and left its results in dst; here stands what each processor did, from which its time
// follows: accesses of single elements in HBM, transfers between HBM and the tightly coupled memory
// (TCM) with their bytes, and steps on what the processor holds.
#include <algorithm>

#include "isa/instruction.h"

namespace trnsim::isa {
namespace {

struct CustomOp {
  Tile dst;
  TileList srcs;
  NumberList element_accesses, transfers, transfer_bytes, steps;

  static constexpr Info kInfo{
      .name = "custom_op",
      .summary = "a custom operator in C++, by what each processor of the engine did",
      .engines = "GpSimd",
      .cost =
          "start + the slowest processor's: accesses x gpsimd.element_access + transfers x "
          "dma.start_latency + bytes / rate + steps x gpsimd.operator_step_cycles",
      .source = "Neuron custom C++ operators: developer guide, API reference, performance tutorial",
      .since = 2};
  static constexpr std::tuple kFields{out("dst", &CustomOp::dst),
                                      in("srcs", &CustomOp::srcs),
                                      arg("element_accesses", &CustomOp::element_accesses),
                                      arg("transfers", &CustomOp::transfers),
                                      arg("transfer_bytes", &CustomOp::transfer_bytes),
                                      arg("steps", &CustomOp::steps)};

  Engine engine_on(int) const { return Engine::kGpsimd; }

  void check(const Rules& rules) const {
    check_memory(rules, "dst", dst);
    for (std::int32_t i = 0; i < srcs.size; ++i) check_memory(rules, "srcs", srcs.tiles[i]);
    const auto limit = static_cast<int>(rules.core().gpsimd->processors);
    const int n = steps.size;
    if (n < 1 || n > limit)
      rules.fail("processors", "counts of {} processors; there are {}", n, limit);
    if (element_accesses.size != n || transfers.size != n || transfer_bytes.size != n)
      rules.fail("counts",
                 "the lists of counts are of {}, {}, {} and {} processors; they must agree",
                 element_accesses.size, transfers.size, transfer_bytes.size, n);
  }

  static void check_memory(const Rules& rules, const char* name, const Tile& tile) {
    if (tile.on_chip())
      rules.fail("memory", "{} must be in HBM, where operators find their tensors", name);
  }

  void execute(CoreState&) const {}

  Cost cost(const CostModel& model) const {
    const catalog::GpsimdEngine& engine = *model.core().gpsimd;
    const catalog::Dma& dma = model.core().dma;
    // Through the engine's own DMA, of which each processor has its part, or one of the core's.
    const double rate = engine.dma_bandwidth_each_way
                            ? *engine.dma_bandwidth_each_way / engine.processors
                            : dma.sustained_rate.value;
    double slowest_ns = 0;
    for (std::int32_t p = 0; p < steps.size; ++p) {
      slowest_ns =
          std::max(slowest_ns, element_accesses.values[p] * engine.element_access +
                                   transfers.values[p] * dma.start_latency +
                                   transfer_bytes.values[p] / rate +
                                   steps.values[p] * engine.operator_step_cycles / engine.clock);
    }
    return model.gpsimd(slowest_ns * engine.clock);
  }
};

}  // namespace

InstructionType insn_custom_op() { return describe<CustomOp>(); }

}  // namespace trnsim::isa
