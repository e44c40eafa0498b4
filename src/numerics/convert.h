// Conversions between the storage types of dtype.h and fp32, the type in which the engines compute.
//
// Narrowing rounds to nearest, ties to even, subnormals included. A float that is out of range
// becomes infinity where the type has one, NaN in float8_e4m3fn and float8_e8m0fnu, the largest
// value in float4_e2m1fn (as ml_dtypes does). Integers: round to nearest even, then saturate; NaN
// becomes 0. bool: anything but zero is 1. NaN is written as the one canonical positive quiet NaN,
// also into float32, because hosts differ in the sign and payload that arithmetic gives it;
// float4_e2m1fn has none and gets 0x8 (-0). Reading keeps what is stored. Copies that must keep
// every bit use copy_elements. Left out: any conversion that does not pass through fp32.
#pragma once

#include <cstddef>

#include "numerics/dtype.h"

namespace trnsim::numerics {

class StochasticRounding;  // random.h

enum class Saturation : std::uint8_t {
  kNone,    // overflow as the type does by default, see above
  kFinite,  // overflow and infinity become the largest finite value of the same sign
};

// n elements; element i of src is at src + i * stride_bytes, dst is contiguous. For packed types n
// counts storage units and dst holds 4 n floats. A stride of zero repeats one element. Nothing
// needs to be aligned.
void to_float(Dtype src_type, const void* src, std::ptrdiff_t stride_bytes, float* dst,
              std::size_t n);

void from_float(Dtype dst_type, const float* src, void* dst, std::ptrdiff_t stride_bytes,
                std::size_t n, Saturation saturation = Saturation::kNone);

// As from_float, but a float type narrower than fp32 rounds up with a probability equal to the
// discarded fraction; one random word per element, in order. Integers, bool, float32 and
// float8_e8m0fnu draw nothing and round to nearest.
void from_float_stochastic(Dtype dst_type, const float* src, void* dst, std::ptrdiff_t stride_bytes,
                           std::size_t n, StochasticRounding& stream,
                           Saturation saturation = Saturation::kNone);

// Moves n elements of 1, 2 or 4 (or any other number of) bytes without looking at them.
void copy_elements(int element_bytes, const void* src, std::ptrdiff_t src_stride_bytes, void* dst,
                   std::ptrdiff_t dst_stride_bytes, std::size_t n);

// One storage unit of a packed type; element q is byte q, for fp4 the low nibble of byte q/2 when q
// is even.
inline void unpack_x4(Dtype type, const void* unit, float (&elements)[4]) {
  to_float(type, unit, 0, elements, 1);
}
inline void pack_x4(Dtype type, const float (&elements)[4], void* unit,
                    Saturation saturation = Saturation::kNone) {
  from_float(type, elements, unit, 0, 1, saturation);
}

// The value that one fp32 number has after a round trip through `type` (not a packed one).
inline float round_to(Dtype type, float value) {
  std::uint32_t storage = 0;
  from_float(type, &value, &storage, 0, 1);
  to_float(type, &storage, 0, &value, 1);
  return value;
}

}  // namespace trnsim::numerics
