// torch::Tensor: a handle on a tensor in the simulated HBM, row-major. Copies share the data.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <trnsim_gpsimd/scalar_types.h>

#include <initializer_list>
#include <vector>

namespace c10 {

// A view of sizes; valid as long as what it was made from.
class IntArrayRef {
 public:
  IntArrayRef() = default;
  IntArrayRef(const int64_t* data, size_t size) : data_(data), size_(size) {}
  IntArrayRef(const std::vector<int64_t>& values) : data_(values.data()), size_(values.size()) {}
  IntArrayRef(std::initializer_list<int64_t> values) : own_(values) {
    data_ = own_.data();
    size_ = own_.size();
  }
  // Other integers, as size_t counts are commonly given: {num_elem}.
  template <class T>
  IntArrayRef(std::initializer_list<T> values) : own_(values.begin(), values.end()) {
    data_ = own_.data();
    size_ = own_.size();
  }
  IntArrayRef(const IntArrayRef& other) { *this = other; }
  IntArrayRef& operator=(const IntArrayRef& other) {
    own_ = other.own_;
    data_ = own_.empty() ? other.data_ : own_.data();
    size_ = other.size_;
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const int64_t* data() const { return data_; }
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + size_; }
  int64_t operator[](size_t i) const;  // checked
  int64_t front() const { return (*this)[0]; }
  int64_t back() const { return (*this)[size_ - 1]; }
  std::vector<int64_t> vec() const { return std::vector<int64_t>(begin(), end()); }
  bool equals(const IntArrayRef& other) const;

 private:
  std::vector<int64_t> own_;
  const int64_t* data_ = nullptr;
  size_t size_ = 0;
};

inline bool operator==(const IntArrayRef& a, const IntArrayRef& b) { return a.equals(b); }
inline bool operator!=(const IntArrayRef& a, const IntArrayRef& b) { return !a.equals(b); }

// Only the dtype has an effect, and it must be given.
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType type) : type_(type), has_type_(true) {}
  TensorOptions dtype(ScalarType type) const { return TensorOptions(type); }
  bool has_dtype() const { return has_type_; }
  ScalarType dtype() const { return type_; }

 private:
  ScalarType type_ = ScalarType::Float;
  bool has_type_ = false;
};

}  // namespace c10

namespace torch {

using c10::IntArrayRef;
using c10::TensorOptions;

class CoherencyEnforcer {
 public:
  enum Policy { COHERENT, INCOHERENT_VERBOSE, INCOHERENT_QUIET };
};

inline TensorOptions dtype(ScalarType type) { return TensorOptions(type); }

template <class T, size_t N, bool read_only>
class TensorAccessor;
template <class T>
class TensorReadStreamAccessor;
template <class T>
class TensorWriteStreamAccessor;
template <bool read_only>
class TensorTcmAccessor;

}  // namespace torch

namespace trnsim_gpsimd {

// What handles share. The bytes are in the arena that stands for HBM.
struct Storage {
  c10::ScalarType type;
  std::vector<int64_t> sizes, strides;  // in elements
  int64_t elements = 0;
  char* data = nullptr;
  bool input = false;  // an argument of the operator: it may not be written
  int references = 0;
  int read_streams = 0, write_streams = 0;  // active ones
  torch::CoherencyEnforcer::Policy policy = torch::CoherencyEnforcer::COHERENT;
};

}  // namespace trnsim_gpsimd

namespace at {

class Tensor {
 public:
  Tensor() = default;  // undefined
  explicit Tensor(trnsim_gpsimd::Storage* storage) : storage_(storage) { hold(); }
  Tensor(const Tensor& other) : storage_(other.storage_) { hold(); }
  Tensor(Tensor&& other) noexcept : storage_(other.storage_) { other.storage_ = nullptr; }
  Tensor& operator=(const Tensor& other) &;
  Tensor& operator=(Tensor&& other) &;
  ~Tensor() { release(); }

  bool defined() const { return storage_ != nullptr; }
  int64_t numel() const { return storage().elements; }
  int64_t dim() const { return static_cast<int64_t>(storage().sizes.size()); }
  c10::IntArrayRef sizes() const { return storage().sizes; }
  c10::IntArrayRef strides() const { return storage().strides; }
  int64_t size(int64_t dimension) const;
  int64_t stride(int64_t dimension) const;
  c10::ScalarType scalar_type() const { return storage().type; }
  c10::ScalarType dtype() const { return storage().type; }
  c10::TensorOptions options() const { return c10::TensorOptions(storage().type); }
  int64_t element_size() const { return c10::element_bytes(storage().type); }
  bool is_contiguous() const { return true; }

  template <class T, size_t N>
  torch::TensorAccessor<T, N, true> accessor() const&;
  template <class T, size_t N>
  torch::TensorAccessor<T, N, false> accessor() &;
  template <class T>
  torch::TensorReadStreamAccessor<T> read_stream_accessor() const&;
  template <class T>
  torch::TensorWriteStreamAccessor<T> write_stream_accessor() &;
  torch::TensorTcmAccessor<true> tcm_accessor() const&;
  torch::TensorTcmAccessor<false> tcm_accessor() &;

  torch::CoherencyEnforcer::Policy get_accessor_coherence_policy() const {
    return storage().policy;
  }
  void set_accessor_coherence_policy(torch::CoherencyEnforcer::Policy policy) const {
    storage().policy = policy;
  }
  Tensor& fill_(const c10::Scalar& value) const;

  trnsim_gpsimd::Storage& storage() const;  // raises where the tensor is undefined

 private:
  void hold() {
    if (storage_) ++storage_->references;
  }
  void release();
  trnsim_gpsimd::Storage* storage_ = nullptr;
};

}  // namespace at

namespace torch {
using at::Tensor;
}  // namespace torch

// The operator's result; what is written to it counts instead of the tensor that is returned.
torch::Tensor get_dst_tensor();
