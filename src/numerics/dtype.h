// The element types of NeuronCore tensors: names as in nki.language, storage size and range.
//
// A packed type ("_x4") is one storage unit that holds four small floats; its `bytes` is the size
// of the unit and its `element` the type of the four. bool is one byte, 0 or 1. float4_e2m1fn alone
// takes a byte, as in ml_dtypes. float8_e4m3 is the IEEE-like one with infinities
// (ml_dtypes.float8_e4m3, at most 240); NKI does not say which it means. Values and rounding are in
// convert.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trnsim::numerics {

enum class Dtype : std::uint8_t {
  kFloat32,
  kTfloat32,
  kBfloat16,
  kFloat16,
  kFloat8E3M4,
  kFloat8E4M3,
  kFloat8E4M3FN,
  kFloat8E5M2,
  kFloat8E8M0FNU,
  kFloat4E2M1FN,
  kInt8,
  kInt16,
  kInt32,
  kUint8,
  kUint16,
  kUint32,
  kBool,
  kFloat8E4M3FNx4,
  kFloat8E5M2x4,
  kFloat4E2M1FNx4,
};
inline constexpr std::size_t kDtypeCount = 20;

struct DtypeInfo {
  std::string_view name;
  int bytes;  // of one storage unit
  bool is_float;
  bool is_integer;  // bool_ is neither float nor integer
  bool is_signed;
  int packed;     // elements per storage unit, 1 or 4
  Dtype element;  // the type itself unless packed
  double max_finite;
  double lowest;
  double smallest;  // least positive value, subnormals included
  bool has_inf;
  bool has_nan;
};

namespace detail {
using enum Dtype;
// clang-format off
inline constexpr std::array<DtypeInfo, kDtypeCount> kDtypeTable{{
    // name, bytes, float, integer, signed, packed, element, max, lowest, smallest, inf, nan
    {"float32", 4, true, false, true, 1, kFloat32, 0x1.fffffep127, -0x1.fffffep127, 0x1p-149, true, true},
    {"tfloat32", 4, true, false, true, 1, kTfloat32, 0x1.ffcp127, -0x1.ffcp127, 0x1p-136, true, true},
    {"bfloat16", 2, true, false, true, 1, kBfloat16, 0x1.fep127, -0x1.fep127, 0x1p-133, true, true},
    {"float16", 2, true, false, true, 1, kFloat16, 65504, -65504, 0x1p-24, true, true},
    {"float8_e3m4", 1, true, false, true, 1, kFloat8E3M4, 15.5, -15.5, 0x1p-6, true, true},
    {"float8_e4m3", 1, true, false, true, 1, kFloat8E4M3, 240, -240, 0x1p-9, true, true},
    {"float8_e4m3fn", 1, true, false, true, 1, kFloat8E4M3FN, 448, -448, 0x1p-9, false, true},
    {"float8_e5m2", 1, true, false, true, 1, kFloat8E5M2, 57344, -57344, 0x1p-16, true, true},
    {"float8_e8m0fnu", 1, true, false, false, 1, kFloat8E8M0FNU, 0x1p127, 0x1p-127, 0x1p-127, false, true},
    {"float4_e2m1fn", 1, true, false, true, 1, kFloat4E2M1FN, 6, -6, 0.5, false, false},
    {"int8", 1, false, true, true, 1, kInt8, 127, -128, 1, false, false},
    {"int16", 2, false, true, true, 1, kInt16, 32767, -32768, 1, false, false},
    {"int32", 4, false, true, true, 1, kInt32, 2147483647, -2147483648.0, 1, false, false},
    {"uint8", 1, false, true, false, 1, kUint8, 255, 0, 1, false, false},
    {"uint16", 2, false, true, false, 1, kUint16, 65535, 0, 1, false, false},
    {"uint32", 4, false, true, false, 1, kUint32, 4294967295.0, 0, 1, false, false},
    {"bool_", 1, false, false, false, 1, kBool, 1, 0, 1, false, false},
    {"float8_e4m3fn_x4", 4, true, false, true, 4, kFloat8E4M3FN, 448, -448, 0x1p-9, false, true},
    {"float8_e5m2_x4", 4, true, false, true, 4, kFloat8E5M2, 57344, -57344, 0x1p-16, true, true},
    {"float4_e2m1fn_x4", 2, true, false, true, 4, kFloat4E2M1FN, 6, -6, 0.5, false, false},
}};
// clang-format on
}  // namespace detail

constexpr const DtypeInfo& info(Dtype type) {
  return detail::kDtypeTable[static_cast<std::size_t>(type)];
}

// Also takes "bool"; nothing for an unknown name.
std::optional<Dtype> dtype_from_name(std::string_view name);

}  // namespace trnsim::numerics
