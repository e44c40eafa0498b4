#include "memory/tensor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"

namespace trnsim::memory {

Dims::Dims(std::initializer_list<std::int64_t> values)
    : Dims(std::span(values.begin(), values.size())) {}

Dims::Dims(std::span<const std::int64_t> values) {
  for (const std::int64_t value : values) push_back(value);
}

void Dims::push_back(std::int64_t value) { insert(size_, value); }

void Dims::insert(int at, std::int64_t value) {
  if (size_ == kMax) program_error("tensor.rank", "a tensor has at most {} dimensions", int{kMax});
  std::copy_backward(values_.begin() + at, values_.begin() + size_, values_.begin() + size_ + 1);
  values_[at] = value;
  ++size_;
}

void Dims::erase(int at) {
  std::copy(values_.begin() + at + 1, values_.begin() + size_, values_.begin() + at);
  --size_;
}

std::int64_t Dims::product() const {
  std::int64_t n = 1;
  for (const std::int64_t value : *this) {
    if (__builtin_mul_overflow(n, value, &n)) {
      program_error("tensor.shape", "shape {} has more elements than any memory holds", text());
    }
  }
  return n;
}

bool Dims::operator==(const Dims& other) const {
  return size_ == other.size_ && std::equal(begin(), end(), other.begin());
}

std::string Dims::text() const {
  std::string text = "(";
  for (int i = 0; i < size_; ++i) text += fmt::format("{}{}", i ? ", " : "", values_[i]);
  return text + (size_ == 1 ? ",)" : ")");
}

namespace {

Dims row_major(const Dims& shape) {
  Dims strides = shape;
  std::int64_t stride = 1;
  for (int i = shape.size() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

}  // namespace

Tensor::Tensor(std::shared_ptr<Allocation> storage, numerics::Dtype dtype, Dims shape)
    : storage_(std::move(storage)), dtype_(dtype), shape_(shape), strides_(row_major(shape)) {
  if (on_chip()) strides_[0] = row_elements();
}

Tensor::Tensor(const Tensor& base, Dims shape, Dims strides, std::int64_t offset)
    : storage_(base.storage_),
      dtype_(base.dtype_),
      shape_(shape),
      strides_(strides),
      offset_(offset) {}

int Tensor::checked_dim(int dim, const char* what) const {
  const int rank = shape_.size();
  const int d = dim < 0 ? dim + rank : dim;
  if (d < 0 || d >= rank) {
    program_error("tensor.dim", "{}: dimension {} of tensor '{}' with shape {}", what, dim, name(),
                  shape_.text());
  }
  return d;
}

Tensor Tensor::slice(std::span<const Index> indices) const {
  if (indices.size() > static_cast<std::size_t>(shape_.size())) {
    program_error("tensor.index", "tensor '{}' with shape {} takes {} indices, {} were given",
                  name(), shape_.text(), shape_.size(), indices.size());
  }
  Dims shape, strides;
  std::int64_t offset = offset_;
  for (int i = 0; i < shape_.size(); ++i) {
    if (static_cast<std::size_t>(i) >= indices.size()) {
      shape.push_back(shape_[i]);
      strides.push_back(strides_[i]);
      continue;
    }
    const Index& index = indices[i];
    const std::int64_t last = index.start + (index.size - 1) * index.step;
    if (index.size > 0 &&
        (std::min(index.start, last) < 0 || std::max(index.start, last) >= shape_[i])) {
      program_error(
          "tensor.out_of_bounds",
          "index {} to {} is out of bounds for dimension {} (size {}) of tensor '{}' with shape {}",
          index.start, last, i, shape_[i], name(), shape_.text());
    }
    offset += index.start * strides_[i];
    if (index.drop && !(on_chip() && i == 0)) continue;
    shape.push_back(index.size);
    strides.push_back(strides_[i] * index.step);
  }
  return Tensor(*this, shape, strides, offset);
}

Tensor Tensor::reshape(const Dims& shape) const {
  if (shape.product() != elements()) {
    program_error("tensor.reshape",
                  "tensor '{}' with shape {} has {} elements and cannot become {}", name(),
                  shape_.text(), elements(), shape.text());
  }
  if (on_chip() && (shape.size() == 0 || shape[0] != shape_[0])) {
    program_error("tensor.reshape",
                  "reshape of {} tensor '{}' from {} to {} would move data across partitions; "
                  "dimension 0 must stay {}",
                  space_name(space()), name(), shape_.text(), shape.text(), shape_[0]);
  }
  return Tensor(*this, shape, reshaped_strides(shape), offset_);
}

// Each group of new dimensions must fit a group of old ones that is evenly spaced in memory.
// Dimensions of one element take no part: their strides mean nothing.
Dims Tensor::reshaped_strides(const Dims& shape) const {
  Dims strides = row_major(shape);
  if (on_chip()) strides[0] = strides_[0];
  if (elements() == 0) return strides;
  Dims sizes, steps;  // of the old dimensions that count
  for (int d = on_chip() ? 1 : 0; d < shape_.size(); ++d) {
    if (shape_[d] == 1) continue;
    sizes.push_back(shape_[d]);
    steps.push_back(strides_[d]);
  }
  int old_dim = 0;
  for (int first = on_chip() ? 1 : 0; first < shape.size();) {
    if (shape[first] == 1) {
      ++first;
      continue;
    }
    int end = first + 1, old_end = old_dim + 1;
    std::int64_t new_size = shape[first], old_size = sizes[old_dim];
    while (new_size != old_size) {
      if (new_size < old_size) {
        new_size *= shape[end++];
        continue;
      }
      if (steps[old_end - 1] != steps[old_end] * sizes[old_end]) {
        program_error(
            "tensor.reshape",
            "view of tensor '{}' with shape {} is not contiguous; copy it before reshaping to {}",
            name(), shape_.text(), shape.text());
      }
      old_size *= sizes[old_end++];
    }
    std::int64_t stride = steps[old_end - 1];
    for (int d = end - 1; d >= first; --d) {
      strides[d] = stride;
      stride *= shape[d];
    }
    first = end;
    old_dim = old_end;
  }
  return strides;
}

Tensor Tensor::permute(std::span<const int> order) const {
  Dims shape, strides;
  std::uint32_t seen = 0;
  for (const int entry : order) {
    const int d = checked_dim(entry, "permute");
    seen |= 1u << d;
    shape.push_back(shape_[d]);
    strides.push_back(strides_[d]);
  }
  if (shape.size() != shape_.size() || seen != (1u << shape_.size()) - 1) {
    program_error("tensor.permute",
                  "permute of tensor '{}' with shape {} must name each dimension once", name(),
                  shape_.text());
  }
  if (on_chip() && checked_dim(order[0], "permute") != 0) {
    program_error("tensor.permute",
                  "permute of {} tensor '{}' must keep dimension 0, the partition, in place",
                  space_name(space()), name());
  }
  return Tensor(*this, shape, strides, offset_);
}

Tensor Tensor::broadcast(int dim, std::int64_t size) const {
  const int d = checked_dim(dim, "broadcast");
  if (shape_[d] != 1) {
    program_error("tensor.broadcast",
                  "broadcast: dimension {} of tensor '{}' with shape {} must have size 1", d,
                  name(), shape_.text());
  }
  if (on_chip() && d == 0) {
    program_error(
        "tensor.broadcast",
        "broadcast: the partition dimension of {} tensor '{}' cannot be broadcast by a view; "
        "use a matmul with ones or a DMA",
        space_name(space()), name());
  }
  Tensor view = *this;
  view.shape_[d] = size;
  view.strides_[d] = 0;
  return view;
}

Tensor Tensor::expand_dim(int dim) const {
  const int d = dim < 0 ? dim + shape_.size() + 1 : dim;
  if (d < 0 || d > shape_.size() || (on_chip() && d == 0)) {
    program_error("tensor.dim", "expand_dim: dimension {} of tensor '{}' with shape {}{}", dim,
                  name(), shape_.text(),
                  on_chip() && d == 0 ? "; dimension 0 of an on-chip tensor is its partition" : "");
  }
  Tensor view = *this;
  view.shape_.insert(d, 1);
  view.strides_.insert(d, 1);
  return view;
}

Tensor Tensor::squeeze_dim(int dim) const {
  const int d = checked_dim(dim, "squeeze_dim");
  if (shape_[d] != 1 || (on_chip() && d == 0)) {
    program_error("tensor.dim", "squeeze_dim: dimension {} of tensor '{}' with shape {}{}", dim,
                  name(), shape_.text(),
                  shape_[d] != 1 ? " is not 1" : " is the partition and stays");
  }
  Tensor view = *this;
  view.shape_.erase(d);
  view.strides_.erase(d);
  return view;
}

Tensor Tensor::reinterpret(numerics::Dtype dtype) const {
  const std::int64_t from = numerics::info(dtype_).bytes, to = numerics::info(dtype).bytes;
  const int last = shape_.size() - 1;
  const bool inner_is_free = on_chip() ? last > 0 : last >= 0;
  if (from != to && (!inner_is_free || strides_[last] != 1 || (shape_[last] * from) % to != 0 ||
                     (offset_ * from) % to != 0)) {
    program_error("tensor.view",
                  "view of tensor '{}' with shape {} as {}: the last dimension must be contiguous "
                  "and its bytes "
                  "a multiple of {}",
                  name(), shape_.text(), numerics::info(dtype).name, to);
  }
  Tensor view = *this;
  view.dtype_ = dtype;
  if (from == to) return view;
  view.offset_ = offset_ * from / to;
  view.shape_[last] = shape_[last] * from / to;
  for (int i = 0; i < last; ++i) {
    if ((strides_[i] * from) % to != 0) {
      program_error(
          "tensor.view",
          "view of tensor '{}' as {}: stride {} of dimension {} is not a whole number of elements",
          name(), numerics::info(dtype).name, strides_[i], i);
    }
    view.strides_[i] = strides_[i] * from / to;
  }
  return view;
}

Tensor Tensor::pattern(std::span<const std::int64_t> steps, std::span<const std::int64_t> counts,
                       std::int64_t offset) const {
  return Tensor(*this, Dims(counts), Dims(steps), offset);
}

AccessPattern Tensor::access() const {
  storage_->ensure_placed();
  AccessPattern pattern;
  const std::int64_t element = numerics::info(dtype_).bytes;
  pattern.tensor = storage_->id;
  pattern.space = storage_->space;
  pattern.dtype = dtype_;
  std::int64_t low = offset_, high = offset_;
  const int rank = shape_.size();
  for (int i = 0; i < rank; ++i) {
    if (shape_[i] <= 0) {
      program_error("tensor.empty",
                    "tensor '{}' with shape {} has no elements; an instruction needs at least one",
                    name(), shape_.text());
    }
    if (shape_[i] > std::numeric_limits<std::int32_t>::max()) {
      program_error("tensor.out_of_bounds",
                    "a view of tensor '{}' counts {} elements in dimension {}", name(), shape_[i],
                    i);
    }
    std::int64_t reach = 0;
    std::int64_t& end = strides_[i] < 0 ? low : high;
    if (__builtin_mul_overflow(shape_[i] - 1, strides_[i], &reach) ||
        __builtin_add_overflow(end, reach, &end)) {
      program_error("tensor.out_of_bounds",
                    "a view of tensor '{}' steps {} elements {} times, out of any memory", name(),
                    strides_[i], shape_[i]);
    }
  }
  const std::int64_t limit = on_chip() ? row_elements() * storage_->partitions : row_elements();
  if (low < 0 || high >= limit) {
    program_error("tensor.out_of_bounds",
                  "a view of tensor '{}' reaches from element {} to {}, outside its {} elements",
                  name(), low, high, limit);
  }
  if (!on_chip()) {
    pattern.offset = offset_ * element;
    append_dims(pattern, 0);
    if (pattern.dims == 0) {
      pattern.dims = 1;
      pattern.sizes[0] = 1;
      pattern.strides[0] = element;
    }
    return pattern;
  }
  const std::int64_t row = row_elements();
  const std::int64_t partition = offset_ / row;
  std::int64_t first = offset_ % row, last = first;
  for (int i = 1; i < rank; ++i) (strides_[i] < 0 ? first : last) += (shape_[i] - 1) * strides_[i];
  if (first < 0 || last >= row) {
    program_error(
        "tensor.out_of_bounds",
        "a view of {} tensor '{}' reaches from element {} to {} of a partition that has {}",
        space_name(space()), name(), first, last, row);
  }
  if (shape_[0] > 1 && strides_[0] != row) {
    program_error(
        "tensor.partition_step",
        "view of {} tensor '{}' steps {} elements per partition; the partition step must be 1 "
        "(that is {} elements)",
        space_name(space()), name(), strides_[0], row);
  }
  pattern.start_partition = static_cast<std::uint16_t>(storage_->start_partition + partition);
  pattern.offset = storage_->offset + (offset_ % row) * element;
  pattern.sizes[0] = static_cast<std::int32_t>(shape_[0]);
  pattern.dims = 1;
  append_dims(pattern, 1);
  return pattern;
}

// Dimensions from `first` on. Shapes matter to some instructions; so only where room is short are
// unit dimensions dropped, and then neighbours joined that step as one.
void Tensor::append_dims(AccessPattern& pattern, int first) const {
  const std::int64_t element = numerics::info(dtype_).bytes;
  const bool drop = shape_.size() > AccessPattern::kMaxDims;
  int left = first;
  for (int i = first; i < shape_.size(); ++i) left += shape_[i] != 1;
  const bool join = left > AccessPattern::kMaxDims;
  for (int i = first; i < shape_.size(); ++i) {
    if (drop && shape_[i] == 1) continue;
    const std::int64_t stride = strides_[i] * element;
    const int last = pattern.dims - 1;
    if (join && last >= first && pattern.strides[last] == stride * shape_[i] &&
        pattern.sizes[last] * shape_[i] <= std::numeric_limits<std::int32_t>::max()) {
      pattern.sizes[last] *= static_cast<std::int32_t>(shape_[i]);
      pattern.strides[last] = stride;
      continue;
    }
    if (pattern.dims == AccessPattern::kMaxDims) {
      program_error("tensor.rank",
                    "view of {} tensor '{}' with shape {} needs more than {} {}dimensions",
                    space_name(space()), name(), shape_.text(), AccessPattern::kMaxDims - first,
                    on_chip() ? "free " : "");
    }
    pattern.sizes[pattern.dims] = static_cast<std::int32_t>(shape_[i]);
    pattern.strides[pattern.dims++] = stride;
  }
}

}  // namespace trnsim::memory
