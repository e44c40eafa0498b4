#include "numerics/convert.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "numerics/minifloat.h"
#include "numerics/random.h"
#include "numerics/target.h"

namespace trnsim::numerics {

namespace {

using namespace detail;
using Byte = unsigned char;

// Contiguous rows. `load` and `store` go through memcpy because storage has any alignment and any
// type.
template <class T>
TRNSIM_ALWAYS_INLINE T load(const Byte* from, std::size_t i) {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
TRNSIM_ALWAYS_INLINE void store(Byte* to, std::size_t i, T value) {
  std::memcpy(to + i * sizeof(T), &value, sizeof(T));
}

template <class T>
TRNSIM_ALWAYS_INLINE void read_integers(const Byte* src, float* dst, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) dst[i] = static_cast<float>(load<T>(src, i));
}

template <class F, class Storage>
TRNSIM_ALWAYS_INLINE void read_small(const Byte* src, float* dst, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) dst[i] = decode<F>(load<Storage>(src, i));
}

// NaN becomes zero first, so that the clamp and the conversion see numbers only. The added constant
// (1.5 * 2^m) leaves no bit for a fraction: the adder rounds to nearest even and the integer stands
// in the low bits.
template <class T>
TRNSIM_ALWAYS_INLINE void write_small_integers(const float* src, Byte* dst, std::size_t n,
                                               float low, float high) {
  for (std::size_t i = 0; i < n; ++i) {
    float value = src[i] == src[i] ? src[i] : 0.0f;
    value = value < low ? low : value;
    value = value > high ? high : value;
    store<T>(dst, i, static_cast<T>(std::bit_cast<std::uint32_t>(value + 0x1.8p23f)));
  }
}

TRNSIM_ALWAYS_INLINE void write_words(const float* src, Byte* dst, std::size_t n, double low,
                                      double high) {
  for (std::size_t i = 0; i < n; ++i) {
    double value = src[i] == src[i] ? static_cast<double>(src[i]) : 0.0;
    value = value < low ? low : value;
    value = value > high ? high : value;
    store<std::uint32_t>(
        dst, i, static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value + 0x1.8p52)));
  }
}

template <class F, class Storage>
TRNSIM_ALWAYS_INLINE void write_small(const float* src, Byte* dst, std::size_t n, bool saturate) {
  if (saturate) {
    for (std::size_t i = 0; i < n; ++i)
      store<Storage>(dst, i, static_cast<Storage>(encode<F, true>(src[i])));
  } else {
    for (std::size_t i = 0; i < n; ++i)
      store<Storage>(dst, i, static_cast<Storage>(encode<F, false>(src[i])));
  }
}

// bfloat16 and tfloat32 keep the exponent of fp32, so rounding is an integer addition, and its
// carry makes infinity.
template <int kDropped, bool kSaturate>
TRNSIM_ALWAYS_INLINE std::uint32_t drop_bits(float value, std::uint32_t increment) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  constexpr std::uint32_t kKept = ~((1u << kDropped) - 1);
  std::uint32_t magnitude = ((bits & 0x7fffffffu) + increment) & kKept;
  if constexpr (kSaturate) magnitude = magnitude >= kInfinity ? (kInfinity - 1) & kKept : magnitude;
  return (bits & 0x7fffffffu) > kInfinity ? kCanonicalNan : magnitude | (bits & 0x80000000u);
}

template <int kDropped, bool kSaturate>
TRNSIM_ALWAYS_INLINE std::uint32_t drop_bits_to_even(float value) {
  const std::uint32_t odd = (std::bit_cast<std::uint32_t>(value) >> kDropped) & 1u;
  return drop_bits<kDropped, kSaturate>(value, (1u << (kDropped - 1)) - 1 + odd);
}

template <bool kSaturate>
TRNSIM_ALWAYS_INLINE void write_wide(Dtype type, const float* src, Byte* dst, std::size_t n) {
  if (type == Dtype::kBfloat16) {
    for (std::size_t i = 0; i < n; ++i) {
      store<std::uint16_t>(
          dst, i, static_cast<std::uint16_t>(drop_bits_to_even<16, kSaturate>(src[i]) >> 16));
    }
  } else {
    for (std::size_t i = 0; i < n; ++i)
      store<std::uint32_t>(dst, i, drop_bits_to_even<13, kSaturate>(src[i]));
  }
}

TRNSIM_ALWAYS_INLINE void write_float32(const float* src, Byte* dst, std::size_t n, bool saturate) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(src[i]);
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const std::uint32_t finite = saturate && magnitude == kInfinity ? bits - 1 : bits;
    store<std::uint32_t>(dst, i, magnitude > kInfinity ? kCanonicalNan : finite);
  }
}

// The value is a power of two or nothing. As ml_dtypes: halfway goes up; zero, negative numbers and
// overflow are NaN.
TRNSIM_ALWAYS_INLINE std::uint8_t encode_e8m0(float value, bool saturate) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t subnormal =
      bits >= 0x600000u ? 1u : 0u;  // 1.5 * 2^-127 and up is nearer to 2^-126
  std::uint32_t code = bits < 0x800000u ? subnormal : (bits + 0x400000u) >> 23;
  code = saturate && code == 0xffu && bits <= kInfinity ? 0xfeu : code;
  return static_cast<std::uint8_t>(bits == 0 || bits > kInfinity ? 0xffu : code);
}

TRNSIM_ALWAYS_INLINE float decode_e8m0(std::uint8_t code) {
  const std::uint32_t bits = code == 0 ? 0x400000u : static_cast<std::uint32_t>(code) << 23;
  return std::bit_cast<float>(code == 0xff ? kCanonicalNan : bits);
}

// clang-format off
// `n` counts elements except for fp4 packs, which stay whole units because two elements share a byte.
TRNSIM_MULTIVERSION
void read_row(Dtype type, const Byte* src, float* dst, std::size_t n) {
  switch (type) {
    case Dtype::kFloat32:
    case Dtype::kTfloat32:
      if (n != 0) std::memcpy(dst, src, 4 * n);
      break;
    case Dtype::kBfloat16:
      for (std::size_t i = 0; i < n; ++i) {
        dst[i] = std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(src, i)) << 16);
      }
      break;
    case Dtype::kFloat16: read_small<Float16, std::uint16_t>(src, dst, n); break;
    case Dtype::kFloat8E3M4: read_small<E3M4, std::uint8_t>(src, dst, n); break;
    case Dtype::kFloat8E4M3: read_small<E4M3, std::uint8_t>(src, dst, n); break;
    case Dtype::kFloat8E4M3FN:
    case Dtype::kFloat8E4M3FNx4: read_small<E4M3FN, std::uint8_t>(src, dst, n); break;
    case Dtype::kFloat8E5M2:
    case Dtype::kFloat8E5M2x4: read_small<E5M2, std::uint8_t>(src, dst, n); break;
    case Dtype::kFloat4E2M1FN: read_small<E2M1FN, std::uint8_t>(src, dst, n); break;
    case Dtype::kFloat4E2M1FNx4:
      for (std::size_t i = 0; i < 2 * n; ++i) {
        dst[2 * i] = decode<E2M1FN>(src[i] & 0xfu);
        dst[2 * i + 1] = decode<E2M1FN>(src[i] >> 4);
      }
      break;
    case Dtype::kFloat8E8M0FNU:
      for (std::size_t i = 0; i < n; ++i) dst[i] = decode_e8m0(src[i]);
      break;
    case Dtype::kInt8: read_integers<std::int8_t>(src, dst, n); break;
    case Dtype::kInt16: read_integers<std::int16_t>(src, dst, n); break;
    case Dtype::kInt32: read_integers<std::int32_t>(src, dst, n); break;
    case Dtype::kUint8: read_integers<std::uint8_t>(src, dst, n); break;
    case Dtype::kUint16: read_integers<std::uint16_t>(src, dst, n); break;
    case Dtype::kUint32: read_integers<std::uint32_t>(src, dst, n); break;
    case Dtype::kBool:
      for (std::size_t i = 0; i < n; ++i) dst[i] = src[i] != 0 ? 1.0f : 0.0f;
      break;
  }
}

TRNSIM_MULTIVERSION
void write_row(Dtype type, const float* src, Byte* dst, std::size_t n, bool saturate) {
  switch (type) {
    case Dtype::kFloat32: write_float32(src, dst, n, saturate); break;
    case Dtype::kTfloat32:
    case Dtype::kBfloat16: saturate ? write_wide<true>(type, src, dst, n) : write_wide<false>(type, src, dst, n); break;
    case Dtype::kFloat16: write_small<Float16, std::uint16_t>(src, dst, n, saturate); break;
    case Dtype::kFloat8E3M4: write_small<E3M4, std::uint8_t>(src, dst, n, saturate); break;
    case Dtype::kFloat8E4M3: write_small<E4M3, std::uint8_t>(src, dst, n, saturate); break;
    case Dtype::kFloat8E4M3FN:
    case Dtype::kFloat8E4M3FNx4: write_small<E4M3FN, std::uint8_t>(src, dst, n, saturate); break;
    case Dtype::kFloat8E5M2:
    case Dtype::kFloat8E5M2x4: write_small<E5M2, std::uint8_t>(src, dst, n, saturate); break;
    case Dtype::kFloat4E2M1FN: write_small<E2M1FN, std::uint8_t>(src, dst, n, saturate); break;
    case Dtype::kFloat4E2M1FNx4:
      for (std::size_t i = 0; i < 2 * n; ++i) {
        const std::uint32_t low = encode<E2M1FN, false>(src[2 * i]);
        dst[i] = static_cast<Byte>(low | (encode<E2M1FN, false>(src[2 * i + 1]) << 4));
      }
      break;
    case Dtype::kFloat8E8M0FNU:
      for (std::size_t i = 0; i < n; ++i) dst[i] = encode_e8m0(src[i], saturate);
      break;
    case Dtype::kInt8: write_small_integers<std::int8_t>(src, dst, n, -128, 127); break;
    case Dtype::kInt16: write_small_integers<std::int16_t>(src, dst, n, -32768, 32767); break;
    case Dtype::kInt32: write_words(src, dst, n, -2147483648.0, 2147483647.0); break;
    case Dtype::kUint8: write_small_integers<std::uint8_t>(src, dst, n, 0, 255); break;
    case Dtype::kUint16: write_small_integers<std::uint16_t>(src, dst, n, 0, 65535); break;
    case Dtype::kUint32: write_words(src, dst, n, 0, 4294967295.0); break;
    case Dtype::kBool:
      for (std::size_t i = 0; i < n; ++i) dst[i] = src[i] != 0.0f;
      break;
  }
}
// clang-format on

// visit(i, random word) for i = 0 ... n - 1. The copy of the stream is one that no store can alias:
// it stays in registers.
template <class Visit>
TRNSIM_ALWAYS_INLINE void with_random_words(StochasticRounding& stream, std::size_t n,
                                            Visit visit) {
  StochasticRounding local = stream;
  for (std::size_t i = 0; i < n; ++i) visit(i, local.next());
  stream = local;
}

template <class F, class Storage, bool kSaturate>
void write_small_stochastic(const float* src, Byte* dst, std::size_t n,
                            StochasticRounding& stream) {
  with_random_words(stream, n, [=](std::size_t i, std::uint32_t word) {
    store<Storage>(dst, i, static_cast<Storage>(encode_stochastic<F, kSaturate>(src[i], word)));
  });
}

template <bool kSaturate>
void write_row_stochastic(Dtype type, const float* src, Byte* dst, std::size_t n,
                          StochasticRounding& stream) {
  using Byte8 = std::uint8_t;
  switch (type) {
    case Dtype::kTfloat32:
      with_random_words(stream, n, [=](std::size_t i, std::uint32_t word) {
        store<std::uint32_t>(dst, i, drop_bits<13, kSaturate>(src[i], word >> 19));
      });
      break;
    case Dtype::kBfloat16:
      with_random_words(stream, n, [=](std::size_t i, std::uint32_t word) {
        store<std::uint16_t>(
            dst, i, static_cast<std::uint16_t>(drop_bits<16, kSaturate>(src[i], word >> 16) >> 16));
      });
      break;
    case Dtype::kFloat16:
      write_small_stochastic<Float16, std::uint16_t, kSaturate>(src, dst, n, stream);
      break;
    case Dtype::kFloat8E3M4:
      write_small_stochastic<E3M4, Byte8, kSaturate>(src, dst, n, stream);
      break;
    case Dtype::kFloat8E4M3:
      write_small_stochastic<E4M3, Byte8, kSaturate>(src, dst, n, stream);
      break;
    case Dtype::kFloat8E4M3FN:
    case Dtype::kFloat8E4M3FNx4:
      write_small_stochastic<E4M3FN, Byte8, kSaturate>(src, dst, n, stream);
      break;
    case Dtype::kFloat8E5M2:
    case Dtype::kFloat8E5M2x4:
      write_small_stochastic<E5M2, Byte8, kSaturate>(src, dst, n, stream);
      break;
    case Dtype::kFloat4E2M1FN:
      write_small_stochastic<E2M1FN, Byte8, kSaturate>(src, dst, n, stream);
      break;
    case Dtype::kFloat4E2M1FNx4:
      with_random_words(stream, 4 * n, [=](std::size_t i, std::uint32_t word) {
        const std::uint32_t code = encode_stochastic<E2M1FN, kSaturate>(src[i], word);
        dst[i / 2] = static_cast<Byte>(i % 2 == 0 ? code : dst[i / 2] | (code << 4));
      });
      break;
    default:
      write_row(type, src, dst, n, kSaturate);
  }
}

constexpr std::size_t kBlock =
    256;  // storage units of a strided row that pass through a buffer at a time

// How many times `read_row` and `write_row` count a storage unit.
std::size_t row_count(Dtype type, std::size_t units) {
  return info(type).packed == 4 && type != Dtype::kFloat4E2M1FNx4 ? 4 * units : units;
}

template <int kBytes>
void copy_fixed(const Byte* src, std::ptrdiff_t src_stride, Byte* dst, std::ptrdiff_t dst_stride,
                std::size_t n) {
  for (std::size_t i = 0; i < n; ++i, src += src_stride, dst += dst_stride)
    std::memcpy(dst, src, kBytes);
}

// Calls write(source floats, contiguous destination, units) over a row, through a buffer if the row
// has gaps.
template <class Write>
void write_blocks(Dtype type, const float* src, void* dst, std::ptrdiff_t stride, std::size_t n,
                  Write write) {
  const DtypeInfo& dtype = info(type);
  auto* to = static_cast<Byte*>(dst);
  if (stride == dtype.bytes) {
    write(src, to, row_count(type, n));
    return;
  }
  Byte buffer[kBlock * 4];
  for (std::size_t done = 0; done < n; done += kBlock) {
    const std::size_t units = std::min(kBlock, n - done);
    write(src + done * static_cast<std::size_t>(dtype.packed), buffer, row_count(type, units));
    copy_elements(dtype.bytes, buffer, dtype.bytes, to + static_cast<std::ptrdiff_t>(done) * stride,
                  stride, units);
  }
}

}  // namespace

void to_float(Dtype type, const void* src, std::ptrdiff_t stride, float* dst, std::size_t n) {
  const DtypeInfo& dtype = info(type);
  const auto* from = static_cast<const Byte*>(src);
  if (stride == dtype.bytes) {
    read_row(type, from, dst, row_count(type, n));
    return;
  }
  if (dtype.bytes == 4 && dtype.is_float && dtype.packed == 1) {
    copy_elements(4, src, stride, dst, 4, n);
    return;
  }
  Byte buffer[kBlock * 4];
  for (std::size_t done = 0; done < n; done += kBlock) {
    const std::size_t units = std::min(kBlock, n - done);
    copy_elements(dtype.bytes, from + static_cast<std::ptrdiff_t>(done) * stride, stride, buffer,
                  dtype.bytes, units);
    read_row(type, buffer, dst + done * static_cast<std::size_t>(dtype.packed),
             row_count(type, units));
  }
}

void from_float(Dtype type, const float* src, void* dst, std::ptrdiff_t stride, std::size_t n,
                Saturation saturation) {
  write_blocks(type, src, dst, stride, n, [&](const float* from, Byte* to, std::size_t count) {
    write_row(type, from, to, count, saturation == Saturation::kFinite);
  });
}

void from_float_stochastic(Dtype type, const float* src, void* dst, std::ptrdiff_t stride,
                           std::size_t n, StochasticRounding& stream, Saturation saturation) {
  write_blocks(type, src, dst, stride, n, [&](const float* from, Byte* to, std::size_t count) {
    saturation == Saturation::kFinite ? write_row_stochastic<true>(type, from, to, count, stream)
                                      : write_row_stochastic<false>(type, from, to, count, stream);
  });
}

void copy_elements(int element_bytes, const void* src, std::ptrdiff_t src_stride, void* dst,
                   std::ptrdiff_t dst_stride, std::size_t n) {
  const auto* from = static_cast<const Byte*>(src);
  auto* to = static_cast<Byte*>(dst);
  if (src_stride == element_bytes && dst_stride == element_bytes) {
    if (n != 0) std::memmove(to, from, n * static_cast<std::size_t>(element_bytes));
    return;
  }
  switch (element_bytes) {
    case 1:
      copy_fixed<1>(from, src_stride, to, dst_stride, n);
      break;
    case 2:
      copy_fixed<2>(from, src_stride, to, dst_stride, n);
      break;
    case 4:
      copy_fixed<4>(from, src_stride, to, dst_stride, n);
      break;
    default:
      for (std::size_t i = 0; i < n; ++i, from += src_stride, to += dst_stride) {
        std::memcpy(to, from, static_cast<std::size_t>(element_bytes));
      }
  }
}

}  // namespace trnsim::numerics
