#include "timing/queue.h"

#include <array>

namespace trnsim::timing {

std::string_view queue_name(Queue queue) {
  constexpr std::array<std::string_view, kQueueCount> kNames{
      "Tensor", "Vector", "Scalar", "GpSimd", "Sync", "DMA loads", "DMA stores", "DMA local"};
  return kNames[static_cast<std::size_t>(queue)];
}

Queue queue_of(const program::Program& program, const program::Instruction& instruction) {
  switch (instruction.engine) {
    case isa::Engine::kTensor:
      return Queue::kTensor;
    case isa::Engine::kVector:
      return Queue::kVector;
    case isa::Engine::kScalar:
      return Queue::kScalar;
    case isa::Engine::kGpsimd:
      return Queue::kGpsimd;
    case isa::Engine::kDma:
      break;
    default:
      return Queue::kSync;
  }
  bool from_hbm = false, to_hbm = false;
  isa::for_each_tile(program.type(instruction), program.args(instruction),
                     [&](const isa::FieldInfo& field, const isa::Tile& tile) {
                       if (tile.space != memory::Space::kHbm) return;
                       (isa::writes(field.access) ? to_hbm : from_hbm) = true;
                     });
  return to_hbm     ? (from_hbm ? Queue::kDmaLocal : Queue::kDmaStore)
         : from_hbm ? Queue::kDmaLoad
                    : Queue::kDmaLocal;
}

}  // namespace trnsim::timing
