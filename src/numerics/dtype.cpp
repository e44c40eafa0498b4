#include "numerics/dtype.h"

namespace trnsim::numerics {

std::optional<Dtype> dtype_from_name(std::string_view name) {
  if (name == "bool") return Dtype::kBool;
  for (std::size_t i = 0; i < kDtypeCount; ++i) {
    const auto type = static_cast<Dtype>(i);
    if (info(type).name == name) return type;
  }
  return std::nullopt;
}

}  // namespace trnsim::numerics
