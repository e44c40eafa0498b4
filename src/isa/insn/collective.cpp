// One rank's part in a collective: the tensor that it gives and the one that it gets. Values move
// between ranks outside the core, which here only orders accesses; how much longer it takes than
// the rank's own DMA depends on all ranks and is filled in by whoever clocks them together
// (src/ranks).
#include "isa/instruction.h"
#include "isa/transfer.h"

namespace trnsim::isa {
namespace {

struct Collective {
  Tile dst, src;
  std::int32_t ranks = 0;
  double fabric_ns = 0;

  static constexpr Info kInfo{
      .name = "collective",
      .summary = "one rank's part in nki.collectives: src goes out, dst comes in",
      .engines = "CC-cores and DMA",
      .cost = "as the fabric clocks all ranks of the group",
      .source = "aws-neuron-sdk: neuron-runtime/about/collectives.rst"};
  static constexpr std::tuple kFields{
      opt_out("dst", &Collective::dst), opt_in("src", &Collective::src),
      arg("ranks", &Collective::ranks), opt("fabric_ns", &Collective::fabric_ns)};

  Engine engine_on(int) const { return Engine::kDma; }

  void check(const Rules& rules) const {
    for (const auto& [name, tile] : {std::pair{"dst", &dst}, {"src", &src}})
      if (tile->present()) check_dma_operand(rules, name, *tile);
    if (!dst.present() && !src.present())
      rules.fail("tensors", "neither gives a tensor nor gets one");
    if (ranks < 2) rules.fail("ranks", "{} ranks; a collective joins at least 2", ranks);
  }

  void execute(CoreState&) const {}

  Cost cost(const CostModel&) const {
    Cost cost{.occupancy = {}, .latency = from_ns(fabric_ns)};
    const Tile& moved = dst.present() ? dst : src;
    cost.dma = dma_work(dst.present() ? dst : moved, src.present() ? src : moved);
    // The runtime cuts it up for all engines.
    cost.dma.lanes = memory::kPartitionsMax;
    cost.dma.elements = memory::kPartitionsMax;
    cost.dma.element_bytes = (cost.dma.bytes + cost.dma.lanes - 1) / cost.dma.lanes;
    return cost;
  }
};

}  // namespace

InstructionType insn_collective() { return describe<Collective>(); }

}  // namespace trnsim::isa
