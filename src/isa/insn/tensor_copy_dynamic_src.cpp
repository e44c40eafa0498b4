// tensor_copy with src at an address that an SBUF tile holds; in Beta 1 and NKI 0.2 and 0.3.
#include "isa/instruction.h"
#include "isa/tile_copy.h"

namespace trnsim::isa {
namespace {

struct TensorCopyDynamicSrc : DynamicCopy {
  static constexpr Info kInfo{.name = "tensor_copy_dynamic_src",
                              .summary = "dst = src, with the address of src read from a tile",
                              .engines = kCopyEngines,
                              .cost = kDynamicCopyCost,
                              .source = "NKI documentation 2.26, nki.isa.tensor_copy_dynamic_src"};
  static constexpr std::tuple kFields{out("dst", &TensorCopyDynamicSrc::dst),
                                      in("src", &TensorCopyDynamicSrc::src),
                                      opt("engine", &TensorCopyDynamicSrc::engine),
                                      opt_in("offset", &TensorCopyDynamicSrc::offset)};
};

}  // namespace

InstructionType insn_tensor_copy_dynamic_src() { return describe<TensorCopyDynamicSrc>(); }

}  // namespace trnsim::isa
