// The four ways to a tensor's elements: one by one in HBM, as a stream either way, and by copies to
// and from the processor's tightly coupled memory (TCM). Each refuses what lies outside the tensor.
#pragma once

#include <trnsim_gpsimd/tensor.h>

namespace trnsim_gpsimd {

enum class Opened { kElements, kReadStream, kWriteStream, kTcm };

// Checks of dtype, dimensions, multicore mode and coherence; raise at the caller's line.
void open(Storage& storage, Opened as, c10::ScalarType wanted, int64_t dimensions);
void close_stream(Storage& storage, Opened as, bool buffered);
bool reserve_stream_buffer();  // false: the pool of TCM is used up
[[noreturn]] void index_outside(int64_t index, int64_t size, int64_t dimension);
void stream_read(const Storage& storage, int64_t index, bool buffered, bool open, void* value);
void stream_write(Storage& storage, int64_t index, bool buffered, bool open, const void* value);
void load(const Storage& storage, void* tcm, int64_t first, int64_t count, c10::ScalarType type);
void store(Storage& storage, const void* tcm, int64_t first, int64_t count, c10::ScalarType type);

template <bool read_only, class T>
struct ElementOf {
  using Reference = T&;
};
template <class T>
struct ElementOf<true, T> {
  using Reference = const T&;
};

}  // namespace trnsim_gpsimd

namespace torch {

template <class T, size_t N, bool read_only = false>
class TensorAccessor {
 public:
  TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides, int64_t dimension)
      : data_(data), sizes_(sizes), strides_(strides), dimension_(dimension) {}

  TensorAccessor<T, N - 1, read_only> operator[](int64_t i) const {
    if (static_cast<uint64_t>(i) >= static_cast<uint64_t>(sizes_[0]))
      trnsim_gpsimd::index_outside(i, sizes_[0], dimension_);
    return {data_ + i * strides_[0], sizes_ + 1, strides_ + 1, dimension_ + 1};
  }
  c10::IntArrayRef sizes() const { return {sizes_, N}; }
  c10::IntArrayRef strides() const { return {strides_, N}; }
  int64_t size(int64_t i) const { return sizes()[i]; }
  int64_t stride(int64_t i) const { return strides()[i]; }
  typename trnsim_gpsimd::ElementOf<read_only, T>::Reference front() const { return *data_; }

 private:
  T* data_;
  const int64_t *sizes_, *strides_;
  int64_t dimension_;
};

template <class T, bool read_only>
class TensorAccessor<T, 1, read_only> {
 public:
  TensorAccessor(T* data, const int64_t* sizes, const int64_t* strides, int64_t dimension)
      : data_(data), sizes_(sizes), strides_(strides), dimension_(dimension) {}

  typename trnsim_gpsimd::ElementOf<read_only, T>::Reference operator[](int64_t i) const {
    if (static_cast<uint64_t>(i) >= static_cast<uint64_t>(sizes_[0]))
      trnsim_gpsimd::index_outside(i, sizes_[0], dimension_);
    return data_[i * strides_[0]];
  }
  c10::IntArrayRef sizes() const { return {sizes_, 1}; }
  c10::IntArrayRef strides() const { return {strides_, 1}; }
  int64_t size(int64_t i) const { return sizes()[i]; }
  int64_t stride(int64_t i) const { return strides()[i]; }

 private:
  T* data_;
  const int64_t *sizes_, *strides_;
  int64_t dimension_;
};

// The next element in order; closed at the end of its scope at the latest.
template <class T>
class TensorReadStreamAccessor {
 public:
  explicit TensorReadStreamAccessor(const Tensor& tensor)
      : tensor_(tensor), buffered_(trnsim_gpsimd::reserve_stream_buffer()) {}
  TensorReadStreamAccessor(TensorReadStreamAccessor&& other)
      : tensor_(other.tensor_), next_(other.next_), buffered_(other.buffered_), open_(other.open_) {
    other.open_ = false;
  }
  ~TensorReadStreamAccessor() { close(); }

  T read() {
    T value;
    trnsim_gpsimd::stream_read(tensor_.storage(), next_++, buffered_, open_, &value);
    return value;
  }
  int close() {
    if (open_)
      trnsim_gpsimd::close_stream(tensor_.storage(), trnsim_gpsimd::Opened::kReadStream, buffered_);
    open_ = false;
    return 0;
  }

 private:
  Tensor tensor_;
  int64_t next_ = 0;
  bool buffered_, open_ = true;
};

template <class T>
class TensorWriteStreamAccessor {
 public:
  explicit TensorWriteStreamAccessor(const Tensor& tensor)
      : tensor_(tensor), buffered_(trnsim_gpsimd::reserve_stream_buffer()) {}
  TensorWriteStreamAccessor(TensorWriteStreamAccessor&& other)
      : tensor_(other.tensor_), next_(other.next_), buffered_(other.buffered_), open_(other.open_) {
    other.open_ = false;
  }
  ~TensorWriteStreamAccessor() { close(); }

  void write(T value) {
    trnsim_gpsimd::stream_write(tensor_.storage(), next_++, buffered_, open_, &value);
  }
  int close() {
    if (open_)
      trnsim_gpsimd::close_stream(tensor_.storage(), trnsim_gpsimd::Opened::kWriteStream,
                                  buffered_);
    open_ = false;
    return 0;
  }

 private:
  Tensor tensor_;
  int64_t next_ = 0;
  bool buffered_, open_ = true;
};

// Offsets count elements as if the tensor were flat.
template <bool read_only>
class TensorTcmAccessor {
 public:
  explicit TensorTcmAccessor(const Tensor& tensor) : tensor_(tensor) {}

  template <class T>
  void tensor_to_tcm(T* tcm_ptr, size_t tensor_offset, size_t num_elem) {
    trnsim_gpsimd::load(tensor_.storage(), tcm_ptr, static_cast<int64_t>(tensor_offset),
                        static_cast<int64_t>(num_elem), c10::ScalarTypeOf<T>::value);
  }
  template <class T>
  void tcm_to_tensor(T* tcm_ptr, size_t tensor_offset, size_t num_elem) {
    static_assert(!read_only, "a TCM accessor of a const tensor is read-only");
    trnsim_gpsimd::store(tensor_.storage(), tcm_ptr, static_cast<int64_t>(tensor_offset),
                         static_cast<int64_t>(num_elem), c10::ScalarTypeOf<T>::value);
  }

 private:
  Tensor tensor_;
};

namespace neuron {
// Null where the pool is used up.
void* tcm_malloc(size_t nbytes);
void tcm_free(void* ptr);
}  // namespace neuron

}  // namespace torch

namespace at {

template <class T, size_t N>
torch::TensorAccessor<T, N, true> Tensor::accessor() const& {
  trnsim_gpsimd::open(storage(), trnsim_gpsimd::Opened::kElements, c10::ScalarTypeOf<T>::value, N);
  const auto& s = storage();
  return {reinterpret_cast<T*>(s.data), s.sizes.data(), s.strides.data(), 0};
}
template <class T, size_t N>
torch::TensorAccessor<T, N, false> Tensor::accessor() & {
  trnsim_gpsimd::open(storage(), trnsim_gpsimd::Opened::kElements, c10::ScalarTypeOf<T>::value, N);
  const auto& s = storage();
  return {reinterpret_cast<T*>(s.data), s.sizes.data(), s.strides.data(), 0};
}
template <class T>
torch::TensorReadStreamAccessor<T> Tensor::read_stream_accessor() const& {
  trnsim_gpsimd::open(storage(), trnsim_gpsimd::Opened::kReadStream, c10::ScalarTypeOf<T>::value,
                      -1);
  return torch::TensorReadStreamAccessor<T>(*this);
}
template <class T>
torch::TensorWriteStreamAccessor<T> Tensor::write_stream_accessor() & {
  trnsim_gpsimd::open(storage(), trnsim_gpsimd::Opened::kWriteStream, c10::ScalarTypeOf<T>::value,
                      -1);
  return torch::TensorWriteStreamAccessor<T>(*this);
}
inline torch::TensorTcmAccessor<true> Tensor::tcm_accessor() const& {
  trnsim_gpsimd::open(storage(), trnsim_gpsimd::Opened::kTcm, storage().type, -1);
  return torch::TensorTcmAccessor<true>(*this);
}
inline torch::TensorTcmAccessor<false> Tensor::tcm_accessor() & {
  trnsim_gpsimd::open(storage(), trnsim_gpsimd::Opened::kTcm, storage().type, -1);
  return torch::TensorTcmAccessor<false>(*this);
}

}  // namespace at
