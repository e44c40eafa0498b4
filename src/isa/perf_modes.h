// The faster modes of tensor_copy and tensor_scalar (NeuronCore-v3 and later; the catalogue has 1
// elsewhere).
#pragma once

#include "isa/cost.h"

namespace trnsim::isa {

// Elements per cycle and lane on the Vector Engine, beside the plain one.
inline double vector_speedup(const catalog::VectorEngine& vector, const Tile& dst,
                             const Tile& src) {
  const bool psum = dst.space == Space::kPsum || src.space == Space::kPsum;
  if (!is_16bit_float(dst) || !is_16bit_float(src)) {
    return psum ? vector.copy_fp32_psum_speedup : vector.copy_fp32_speedup;
  }
  const bool strided = !unit_stride(dst) || !unit_stride(src);
  if (psum && strided) return vector.copy_fp32_psum_speedup;
  return psum || strided ? vector.copy_16bit_psum_speedup : vector.copy_16bit_speedup;
}

// The same on the Scalar Engine.
inline double scalar_speedup(const catalog::ScalarEngine& scalar, const Tile& dst,
                             const Tile& src) {
  return is_16bit_float(dst) && is_16bit_float(src) ? scalar.narrow_speedup.value : 1.0;
}

}  // namespace trnsim::isa
