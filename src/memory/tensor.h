// A view of a tensor: storage + shape, strides and offset, all in elements of the view's dtype. An
// on-chip tensor counts its elements as if partitions followed one another (partition p, free
// element f is p * row + f, with row the elements per partition), which is how NKI access patterns
// count; dimension 0 of a tile is always the partition. Views are free: no instruction is emitted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "memory/access_pattern.h"
#include "memory/memory.h"

namespace trnsim::memory {

// Small vector of dimensions; views of more dimensions are refused.
class Dims {
 public:
  static constexpr int kMax = 8;
  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values);
  explicit Dims(std::span<const std::int64_t> values);

  int size() const { return size_; }
  std::int64_t& operator[](int i) { return values_[i]; }
  std::int64_t operator[](int i) const { return values_[i]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + size_; }
  void push_back(std::int64_t value);
  void insert(int at, std::int64_t value);
  void erase(int at);
  std::int64_t product() const;
  bool operator==(const Dims& other) const;
  std::string text() const;  // "(128, 512)"

 private:
  std::array<std::int64_t, kMax> values_{};
  int size_ = 0;
};

// One index of a subscript: a range [start, start + size * step) or, with `drop`, a single element
// whose dimension goes.
struct Index {
  std::int64_t start = 0;
  std::int64_t size = 0;
  std::int64_t step = 1;
  bool drop = false;
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(std::shared_ptr<Allocation> storage, numerics::Dtype dtype, Dims shape);

  Space space() const { return storage_->space; }
  bool on_chip() const { return space() != Space::kHbm; }
  numerics::Dtype dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }
  const Dims& strides() const { return strides_; }
  std::int64_t offset() const { return offset_; }
  const std::string& name() const { return storage_->name; }
  const std::shared_ptr<Allocation>& storage() const { return storage_; }
  std::int64_t elements() const { return shape_.product(); }
  // Elements of one partition of the whole tensor (on chip); of the whole tensor (HBM).
  std::int64_t row_elements() const { return storage_->bytes / numerics::info(dtype_).bytes; }

  // One Index per dimension. Integer indices keep a partition dimension of size 1 on chip.
  Tensor slice(std::span<const Index> indices) const;
  Tensor reshape(const Dims& shape) const;
  Tensor permute(std::span<const int> order) const;
  Tensor broadcast(int dim, std::int64_t size) const;
  Tensor expand_dim(int dim) const;
  Tensor squeeze_dim(int dim) const;
  Tensor reinterpret(numerics::Dtype dtype) const;  // view(dtype)
  // Pattern of [step, count] pairs, outermost first, over the whole tensor from `offset`; ignores
  // this view's shape.
  Tensor pattern(std::span<const std::int64_t> steps, std::span<const std::int64_t> counts,
                 std::int64_t offset) const;

  // As an instruction operand. Throws ProgramError where the hardware has no such pattern.
  AccessPattern access() const;

 private:
  Tensor(const Tensor& base, Dims shape, Dims strides, std::int64_t offset);
  Dims reshaped_strides(const Dims& shape) const;
  int checked_dim(int dim, const char* what) const;
  void append_dims(AccessPattern& pattern, int first) const;

  std::shared_ptr<Allocation> storage_;
  numerics::Dtype dtype_ = numerics::Dtype::kFloat32;
  Dims shape_;
  Dims strides_;
  std::int64_t offset_ = 0;
};

}  // namespace trnsim::memory
