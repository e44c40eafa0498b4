// Factories and operations on whole tensors. Their time: a fill is one transfer; an operation
// passes its operands and result through the processor in buffers, with a step for each element of
// each. Functions are computed in double and rounded, so that every host gives the same bits.
#include <math.h>
#include <string.h>
#include <trnsim_gpsimd/functions.h>

#include <algorithm>

#include "runtime.h"

namespace trnsim_gpsimd {
namespace {

using c10::ScalarType;

bool is_integer(ScalarType type) { return type < ScalarType::Half; }

template <class T>
T get(const char* p) {
  T value;
  memcpy(&value, p, sizeof value);
  return value;
}
template <class T>
void put(char* p, T value) {
  memcpy(p, &value, sizeof value);
}

double read_number(const Storage& s, int64_t i) {
  const char* p = s.data + i * c10::element_bytes(s.type);
  switch (s.type) {
    case ScalarType::Float:
      return get<float>(p);
    case ScalarType::Half:
      return get<c10::Half>(p);
    case ScalarType::BFloat16:
      return get<c10::BFloat16>(p);
    case ScalarType::Byte:
      return get<uint8_t>(p);
    case ScalarType::Char:
      return get<int8_t>(p);
    case ScalarType::Short:
      return get<int16_t>(p);
    case ScalarType::Int:
      return get<int32_t>(p);
  }
  return 0;
}

void write_number(Storage& s, int64_t i, double value) {
  char* p = s.data + i * c10::element_bytes(s.type);
  const auto rounded = static_cast<float>(value);
  switch (s.type) {
    case ScalarType::Float:
      return put(p, rounded);
    case ScalarType::Half:
      return put(p, c10::Half(rounded));
    case ScalarType::BFloat16:
      return put(p, c10::BFloat16(rounded));
    default:
      break;
  }
  const auto integer = static_cast<int64_t>(value);  // wraps to the width, as in C
  switch (s.type) {
    case ScalarType::Byte:
      return put(p, static_cast<uint8_t>(integer));
    case ScalarType::Char:
      return put(p, static_cast<int8_t>(integer));
    case ScalarType::Short:
      return put(p, static_cast<int16_t>(integer));
    default:
      return put(p, static_cast<int32_t>(integer));
  }
}

void pass_through(const Storage& s) {
  const int64_t bytes = s.elements * c10::element_bytes(s.type);
  for (int64_t at = 0; at < bytes; at += settings.stream_buffer_bytes)
    transfer(std::min(settings.stream_buffer_bytes, bytes - at));
  counts.library_steps += s.elements;
}

void check_result(const char* name, const Storage& result, const Storage& operand) {
  if (settings.cpus > 1)
    fault("gpsimd.multicore_accessor",
          text("torch::%s with multicore=True, where tensors are accessed by TCM accessors only",
               name));
  if (result.sizes != operand.sizes || result.type != operand.type)
    fault("gpsimd.operands",
          text("torch::%s of %s %s and %s %s; shapes and dtypes must be equal, there is no "
               "broadcasting",
               name, c10::name(operand.type), text(operand.sizes).c_str(), c10::name(result.type),
               text(result.sizes).c_str()));
}

void begin_operand(const Storage& s) {
  pass_through(s);
  require_readable(s, 0, s.elements * c10::element_bytes(s.type));
}

void begin_result(Storage& s) {
  pass_through(s);
  mark_written(s, 0, s.elements * c10::element_bytes(s.type));
}

torch::Tensor made(torch::IntArrayRef size, const torch::TensorOptions& options) {
  if (!options.has_dtype())
    fault("gpsimd.dtype", "a factory function without a dtype, which must be given");
  return new_tensor(options.dtype(), size.vec());
}

void fill(Storage& s, double value) {
  if (mode == Mode::kShape) return;
  const int64_t bytes = s.elements * c10::element_bytes(s.type);
  mark_written(s, 0, bytes);
  for (int64_t i = 0; i < s.elements; ++i) write_number(s, i, value);
  if (bytes) transfer(bytes);
}

double computed(const char* name, Unary op, double x, ScalarType type) {
  if (is_integer(type) && op != Unary::kAbs && op != Unary::kCeil && op != Unary::kFloor &&
      op != Unary::kNot)
    fault("gpsimd.dtype", text("torch::%s of integers, whose result is floating", name));
  switch (op) {
    case Unary::kAbs:
      return fabs(x);
    case Unary::kCeil:
      return ceil(x);
    case Unary::kFloor:
      return floor(x);
    case Unary::kSin:
      return sin(x);
    case Unary::kCos:
      return cos(x);
    case Unary::kTan:
      return tan(x);
    case Unary::kLog:
      return log(x);
    case Unary::kLog2:
      return log2(x);
    case Unary::kLog10:
      return log10(x);
    case Unary::kExp:
      return exp(x);
    case Unary::kNot:
      break;
  }
  if (!is_integer(type)) fault("gpsimd.dtype", "torch::bitwise_not takes integers");
  return static_cast<double>(~static_cast<int64_t>(x));
}

double integer_power(double base, double exponent) {
  if (exponent < 0) fault("gpsimd.dtype", "torch::pow of integers with a negative exponent");
  uint64_t result = 1, factor = static_cast<uint64_t>(static_cast<int64_t>(base));
  for (auto n = static_cast<uint64_t>(exponent); n; n >>= 1, factor *= factor)
    if (n & 1) result *= factor;
  return static_cast<double>(static_cast<int32_t>(result));
}

double computed(const char* name, Binary op, double a, double b, double alpha, ScalarType type) {
  const bool integer = is_integer(type);
  switch (op) {
    case Binary::kPow:
      return integer ? integer_power(a, b) : pow(a, b);
    case Binary::kAdd:
      return a + (integer ? b * alpha : static_cast<float>(b * alpha));
    case Binary::kSub:
      return a - (integer ? b * alpha : static_cast<float>(b * alpha));
    case Binary::kMul:
      return a * b;
    case Binary::kDiv:
      if (integer) fault("gpsimd.dtype", "torch::div of integers, whose result is floating");
      return a / b;
    default:
      break;
  }
  if (!integer) fault("gpsimd.dtype", text("torch::%s takes integers", name));
  const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  return static_cast<double>(op == Binary::kAnd ? x & y : x | y);
}

}  // namespace

Tensor& apply(const char* name, Unary op, Tensor& result, const Tensor& self) {
  if (mode == Mode::kShape) return result;
  Storage &to = result.storage(), &from = self.storage();
  check_result(name, to, from);
  begin_operand(from);
  begin_result(to);
  for (int64_t i = 0; i < from.elements; ++i)
    write_number(to, i, computed(name, op, read_number(from, i), from.type));
  return result;
}

Tensor& apply(const char* name, Binary op, Tensor& result, const Operand& left,
              const Operand& right, const Scalar& alpha) {
  if (mode == Mode::kShape) return result;
  Storage& to = result.storage();
  for (const Operand* operand : {&left, &right}) {
    if (!operand->tensor) continue;
    check_result(name, to, operand->tensor->storage());
    begin_operand(operand->tensor->storage());
  }
  begin_result(to);
  // A number counts in the tensor's own type.
  const auto value = [&](const Operand& operand, int64_t i) {
    if (operand.tensor) return read_number(operand.tensor->storage(), i);
    if (is_integer(to.type)) return static_cast<double>(operand.number.toLong());
    return static_cast<double>(operand.number.toFloat());
  };
  for (int64_t i = 0; i < to.elements; ++i)
    write_number(to, i,
                 computed(name, op, value(left, i), value(right, i), alpha.toDouble(), to.type));
  return result;
}

Tensor& clamp(Tensor& result, const Tensor& self, const Scalar& low, const Scalar& high) {
  if (mode == Mode::kShape) return result;
  Storage &to = result.storage(), &from = self.storage();
  check_result("clamp", to, from);
  begin_operand(from);
  begin_result(to);
  for (int64_t i = 0; i < from.elements; ++i) {
    const double x = read_number(from, i);
    write_number(to, i, x != x ? x : std::min(std::max(x, low.toDouble()), high.toDouble()));
  }
  return result;
}

Tensor alike(const Operand& left, const Operand& right) {
  const Tensor& self = left.tensor ? *left.tensor : *right.tensor;
  return torch::empty(self.sizes(), self.options());
}

}  // namespace trnsim_gpsimd

namespace torch {

using namespace trnsim_gpsimd;

Tensor empty(IntArrayRef size, TensorOptions options) { return made(size, options); }
Tensor full(IntArrayRef size, const Scalar& fill_value, TensorOptions options) {
  Tensor tensor = made(size, options);
  fill(tensor.storage(), fill_value.toDouble());
  return tensor;
}
Tensor zeros(IntArrayRef size, TensorOptions options) { return full(size, 0, options); }
Tensor ones(IntArrayRef size, TensorOptions options) { return full(size, 1, options); }
Tensor eye(int64_t n, int64_t m, TensorOptions options) {
  Tensor tensor = full({n, m}, 0, options);
  if (mode == Mode::kShape) return tensor;
  for (int64_t i = 0; i < std::min(n, m); ++i) write_number(tensor.storage(), i * m + i, 1);
  return tensor;
}

}  // namespace torch

at::Tensor& at::Tensor::fill_(const c10::Scalar& value) const {
  trnsim_gpsimd::fill(storage(), value.toDouble());
  return const_cast<Tensor&>(*this);
}
