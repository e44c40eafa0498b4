// Tensors, element types, and what accessors check when they are opened and used.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>

#include "runtime.h"

namespace c10 {

uint16_t bfloat16_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  if (value != value) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float bfloat16_value(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  memcpy(&value, &wide, 4);
  return value;
}

uint16_t half_bits(float value) {
  const auto sign = static_cast<uint16_t>(signbit(value) ? 0x8000 : 0);
  if (value != value) return static_cast<uint16_t>(sign | 0x7e00);
  const double size = fabs(static_cast<double>(value));
  if (size >= 65520) return static_cast<uint16_t>(sign | 0x7c00);
  if (size == 0) return sign;
  int exponent;
  frexp(size, &exponent);
  const int unit = std::max(exponent - 11, -24);  // of the last place; -24 for subnormals
  // nearbyint rounds to nearest even; a carry into the exponent comes out right by itself.
  const auto significand = static_cast<int>(nearbyint(ldexp(size, -unit)));
  return static_cast<uint16_t>(sign | ((unit + 24) * 1024 + significand));
}

float half_value(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                : exponent == 0 ? ldexp(fraction, -24)
                                : ldexp(fraction + 1024, exponent - 25);
  return static_cast<float>(bits & 0x8000 ? -size : size);
}

int element_bytes(ScalarType type) {
  static const int kBytes[] = {1, 1, 2, 4, 2, 4, 2};
  return kBytes[static_cast<int>(type)];
}

const char* name(ScalarType type) {
  static const char* const kNames[] = {"kByte", "kChar",  "kShort",   "kInt",
                                       "kHalf", "kFloat", "kBFloat16"};
  return kNames[static_cast<int>(type)];
}

int64_t IntArrayRef::operator[](size_t i) const {
  if (i >= size_)
    trnsim_gpsimd::fault("gpsimd.bounds",
                         trnsim_gpsimd::text("dimension %zu of a shape with %zu", i, size_));
  return data_[i];
}

bool IntArrayRef::equals(const IntArrayRef& other) const {
  return size_ == other.size_ && std::equal(begin(), end(), other.begin());
}

}  // namespace c10

namespace at {

using trnsim_gpsimd::fault;
using trnsim_gpsimd::text;

trnsim_gpsimd::Storage& Tensor::storage() const {
  if (!storage_) fault("gpsimd.undefined", "the tensor is undefined: no factory function made it");
  return *storage_;
}

void Tensor::release() {
  if (storage_ && --storage_->references == 0) trnsim_gpsimd::release_tensor(storage_);
  storage_ = nullptr;
}

Tensor& Tensor::operator=(const Tensor& other) & {
  Tensor copy(other);
  std::swap(storage_, copy.storage_);
  return *this;
}

Tensor& Tensor::operator=(Tensor&& other) & {
  std::swap(storage_, other.storage_);
  return *this;
}

namespace {
size_t dimension_of(const Tensor& tensor, int64_t i) {
  const int64_t at = i < 0 ? i + tensor.dim() : i;
  if (at < 0 || at >= tensor.dim())
    fault("gpsimd.bounds", text("dimension %lld of a tensor with %lld", static_cast<long long>(i),
                                static_cast<long long>(tensor.dim())));
  return static_cast<size_t>(at);
}
}  // namespace

int64_t Tensor::size(int64_t dimension) const {
  return storage().sizes[dimension_of(*this, dimension)];
}
int64_t Tensor::stride(int64_t dimension) const {
  return storage().strides[dimension_of(*this, dimension)];
}

}  // namespace at

namespace trnsim_gpsimd {

namespace {

// What a second way to a tensor may not be open beside.
bool incoherent(const Storage& storage, Opened as) {
  if (as == Opened::kTcm) return false;  // no coherence checks, as documented
  if (as == Opened::kWriteStream) return storage.read_streams + storage.write_streams > 0;
  return storage.write_streams > 0;
}

void check_coherence(const Storage& storage, Opened as) {
  if (storage.policy == torch::CoherencyEnforcer::INCOHERENT_QUIET || !incoherent(storage, as))
    return;
  const char* what = as == Opened::kWriteStream ? "a write stream is opened while a stream"
                                                : "an accessor is opened while a write stream";
  if (storage.policy == torch::CoherencyEnforcer::COHERENT)
    fault("gpsimd.coherence",
          text("%s on the same tensor is active; close() that one first", what));
  printf("warning: %s on the same tensor is active\n", what);
}

long long as_printed(int64_t value) { return static_cast<long long>(value); }

}  // namespace

void open(Storage& storage, Opened as, c10::ScalarType wanted, int64_t dimensions) {
  if (mode == Mode::kShape)
    fault("gpsimd.shape_data",
          "a shape function may not access a tensor's data: there is none yet");
  if (wanted != storage.type)
    fault("gpsimd.dtype",
          text("an accessor of %s on a tensor of %s", c10::name(wanted), c10::name(storage.type)));
  if (dimensions >= 0 && dimensions != static_cast<int64_t>(storage.sizes.size()))
    fault("gpsimd.dimensions", text("an accessor of %lld dimensions on a tensor with %zu",
                                    as_printed(dimensions), storage.sizes.size()));
  if (settings.cpus > 1 && as != Opened::kTcm)
    fault("gpsimd.multicore_accessor",
          "with multicore=True tensors are accessed by TCM accessors only; others race");
  check_coherence(storage, as);
  if (as == Opened::kReadStream) ++storage.read_streams;
  if (as == Opened::kWriteStream) ++storage.write_streams;
}

void index_outside(int64_t index, int64_t size, int64_t dimension) {
  fault("gpsimd.bounds", text("index %lld of dimension %lld, whose size is %lld", as_printed(index),
                              as_printed(dimension), as_printed(size)));
}

void release_stream_buffer();

void close_stream(Storage& storage, Opened as, bool buffered) {
  --(as == Opened::kReadStream ? storage.read_streams : storage.write_streams);
  if (buffered) release_stream_buffer();
}

namespace {

// One element of a stream: a transfer when it begins a buffer, and an access to that buffer.
char* next_of_stream(const Storage& storage, int64_t index, bool buffered, bool is_open,
                     const char* verb) {
  if (!is_open) fault("gpsimd.stream_closed", text("%s a stream that was closed", verb));
  if (index >= storage.elements)
    fault("gpsimd.stream_end",
          text("%s past the end of a stream of %lld elements", verb, as_printed(storage.elements)));
  const int64_t bytes = c10::element_bytes(storage.type), at = index * bytes;
  if (!buffered) {
    ++counts.element_accesses;
  } else if (at % settings.stream_buffer_bytes == 0) {
    transfer(std::min(settings.stream_buffer_bytes, storage.elements * bytes - at));
  }
  ++counts.library_steps;
  return storage.data + at;
}

}  // namespace

void stream_read(const Storage& storage, int64_t index, bool buffered, bool is_open, void* value) {
  const char* at = next_of_stream(storage, index, buffered, is_open, "reads");
  const int64_t bytes = c10::element_bytes(storage.type);
  require_readable(storage, index * bytes, bytes);
  memcpy(value, at, static_cast<size_t>(bytes));
}

void stream_write(Storage& storage, int64_t index, bool buffered, bool is_open, const void* value) {
  char* at = next_of_stream(storage, index, buffered, is_open, "writes");
  const int64_t bytes = c10::element_bytes(storage.type);
  mark_written(storage, index * bytes, bytes);
  memcpy(at, value, static_cast<size_t>(bytes));
}

}  // namespace trnsim_gpsimd
