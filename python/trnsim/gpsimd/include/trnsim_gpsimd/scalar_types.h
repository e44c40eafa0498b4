// Element types of tensors. Half and BFloat16 are stored in 16 bits and computed with as float,
// rounded to nearest even on the way back.
#pragma once

#include <stdint.h>

namespace c10 {

uint16_t bfloat16_bits(float value);
float bfloat16_value(uint16_t bits);
uint16_t half_bits(float value);
float half_value(uint16_t bits);

struct BFloat16 {
  uint16_t x;
  BFloat16() = default;
  BFloat16(float value) : x(bfloat16_bits(value)) {}
  operator float() const { return bfloat16_value(x); }
};

struct Half {
  uint16_t x;
  Half() = default;
  Half(float value) : x(half_bits(value)) {}
  operator float() const { return half_value(x); }
};

inline BFloat16& operator+=(BFloat16& a, float b) {
  return a = BFloat16(static_cast<float>(a) + b);
}
inline BFloat16& operator-=(BFloat16& a, float b) {
  return a = BFloat16(static_cast<float>(a) - b);
}
inline BFloat16& operator*=(BFloat16& a, float b) {
  return a = BFloat16(static_cast<float>(a) * b);
}
inline BFloat16& operator/=(BFloat16& a, float b) {
  return a = BFloat16(static_cast<float>(a) / b);
}
inline Half& operator+=(Half& a, float b) { return a = Half(static_cast<float>(a) + b); }
inline Half& operator-=(Half& a, float b) { return a = Half(static_cast<float>(a) - b); }
inline Half& operator*=(Half& a, float b) { return a = Half(static_cast<float>(a) * b); }
inline Half& operator/=(Half& a, float b) { return a = Half(static_cast<float>(a) / b); }

// The codes are those of the messages between the simulator and the operator's process.
enum class ScalarType : int8_t { Byte, Char, Short, Int, Half, Float, BFloat16 };

int element_bytes(ScalarType type);
const char* name(ScalarType type);

template <class T>
struct ScalarTypeOf;
template <>
struct ScalarTypeOf<uint8_t> {
  static constexpr ScalarType value = ScalarType::Byte;
};
template <>
struct ScalarTypeOf<int8_t> {
  static constexpr ScalarType value = ScalarType::Char;
};
template <>
struct ScalarTypeOf<int16_t> {
  static constexpr ScalarType value = ScalarType::Short;
};
template <>
struct ScalarTypeOf<int32_t> {
  static constexpr ScalarType value = ScalarType::Int;
};
template <>
struct ScalarTypeOf<Half> {
  static constexpr ScalarType value = ScalarType::Half;
};
template <>
struct ScalarTypeOf<float> {
  static constexpr ScalarType value = ScalarType::Float;
};
template <>
struct ScalarTypeOf<BFloat16> {
  static constexpr ScalarType value = ScalarType::BFloat16;
};

// A number that is floating or integer.
class Scalar {
 public:
  Scalar(double value) : number_(value) {}
  Scalar(float value) : number_(value) {}
  Scalar(int value) : integer_(value), is_integer_(true) {}
  Scalar(long value) : integer_(value), is_integer_(true) {}
  Scalar(long long value) : integer_(value), is_integer_(true) {}
  Scalar(Half value) : number_(value) {}
  Scalar(BFloat16 value) : number_(value) {}

  bool isFloatingPoint() const { return !is_integer_; }
  bool isIntegral(bool = false) const { return is_integer_; }
  double toDouble() const { return is_integer_ ? static_cast<double>(integer_) : number_; }
  float toFloat() const { return static_cast<float>(toDouble()); }
  int64_t toLong() const { return is_integer_ ? integer_ : static_cast<int64_t>(number_); }
  int toInt() const { return static_cast<int>(toLong()); }
  template <class T>
  T to() const {
    return is_integer_ ? static_cast<T>(integer_) : static_cast<T>(number_);
  }

 private:
  double number_ = 0;
  int64_t integer_ = 0;
  bool is_integer_ = false;
};

}  // namespace c10

namespace at {
using c10::BFloat16;
using c10::Half;
using c10::Scalar;
using c10::ScalarType;
}  // namespace at

namespace torch {
using c10::BFloat16;
using c10::Half;
using c10::Scalar;
using c10::ScalarType;
using Dtype = c10::ScalarType;
constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = ScalarType::Byte;
constexpr ScalarType kChar = ScalarType::Char, kInt8 = ScalarType::Char;
constexpr ScalarType kShort = ScalarType::Short, kInt16 = ScalarType::Short;
constexpr ScalarType kInt = ScalarType::Int, kInt32 = ScalarType::Int;
constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = ScalarType::Half;
constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = ScalarType::Float;
constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
}  // namespace torch
