// DMA between HBM and SBUF (or within one of them), converting where the dtypes differ.
#include "isa/instruction.h"
#include "isa/transfer.h"

namespace trnsim::isa {
namespace {

struct DmaCopy {
  Tile dst, src;
  OobMode oob_mode = OobMode::kError;
  DgeMode dge_mode = DgeMode::kUnknown;
  Engine engine = Engine::kUnknown;
  OptionalInt priority;

  static constexpr Info kInfo{.name = "dma_copy",
                              .summary = "dst = src by DMA, converted to dst's dtype",
                              .engines = "DMA",
                              .cost = "start latency + per DMA engine: sum over descriptors of fixed + bytes / rate; + completion",
                              .source = "NKI documentation, nki.isa.dma_copy; NKI DMA overview and bandwidth guide"};
  static constexpr std::tuple kFields{out("dst", &DmaCopy::dst),           in("src", &DmaCopy::src),
                                      opt("priority", &DmaCopy::priority), opt("oob_mode", &DmaCopy::oob_mode),
                                      opt("dge_mode", &DmaCopy::dge_mode), opt("engine", &DmaCopy::engine)};

  Engine engine_on(int) const { return Engine::kDma; }

  void check(const Rules& rules) const {
    check_dma_operand(rules, "dst", dst);
    check_dma_operand(rules, "src", src);
    if (dst.elements() != src.elements()) {
      rules.fail("elements", "dst has {} elements and src has {}; they must be equal", dst.elements(), src.elements());
    }
    if (dge_mode == DgeMode::kHardware) {
      rules.generation_at_least(3, "hardware descriptor generation");
      if (dst.dtype != src.dtype) {
        rules.fail("hwdge_dtype", "hardware descriptor generation cannot convert {} to {}", numerics::info(src.dtype).name,
                   numerics::info(dst.dtype).name);
      }
    }
    if (priority.present) rules.generation_at_least(4, "priority");
    if (dst.dtype != src.dtype && (numerics::info(dst.dtype).packed > 1 || numerics::info(src.dtype).packed > 1)) {
      rules.fail("mx_dtype", "MX types cannot be converted by DMA ({} to {})", numerics::info(src.dtype).name,
                 numerics::info(dst.dtype).name);
    }
  }

  void execute(CoreState& state) const { transfer(state, dst, src); }

  Cost cost(const CostModel&) const {
    Cost cost;
    cost.dma = dma_work(dst, src);
    cost.dma.software_descriptors = dge_mode == DgeMode::kSoftware;
    cost.dma.hardware_descriptors = dge_mode == DgeMode::kHardware;
    return cost;
  }
};

}  // namespace

InstructionType insn_dma_copy() { return describe<DmaCopy>(); }

}  // namespace trnsim::isa
