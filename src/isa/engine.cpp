#include "isa/operand.h"

namespace trnsim::isa {

std::string_view engine_name(Engine engine) {
  constexpr std::array<std::string_view, kEngineCount> kNames{
      "unknown", "Tensor", "Vector", "Scalar", "GpSimd", "Sync", "DMA"};
  return kNames[static_cast<std::size_t>(engine)];
}

}  // namespace trnsim::isa
