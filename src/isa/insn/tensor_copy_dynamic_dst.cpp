// tensor_copy with dst at an address that an SBUF tile holds; in Beta 1 and NKI 0.2 and 0.3.
#include "isa/instruction.h"
#include "isa/tile_copy.h"

namespace trnsim::isa {
namespace {

struct TensorCopyDynamicDst : DynamicCopy {
  static constexpr Info kInfo{.name = "tensor_copy_dynamic_dst",
                              .summary = "dst = src, with the address of dst read from a tile",
                              .engines = kCopyEngines,
                              .cost = kDynamicCopyCost,
                              .source = "NKI documentation 2.26, nki.isa.tensor_copy_dynamic_dst"};
  static constexpr std::tuple kFields{out("dst", &TensorCopyDynamicDst::dst),
                                      in("src", &TensorCopyDynamicDst::src),
                                      opt("engine", &TensorCopyDynamicDst::engine),
                                      opt_in("offset", &TensorCopyDynamicDst::offset)};
};

}  // namespace

InstructionType insn_tensor_copy_dynamic_dst() { return describe<TensorCopyDynamicDst>(); }

}  // namespace trnsim::isa
