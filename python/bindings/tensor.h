// trnsim._native.Tensor: a view of a simulated tensor, and its access pattern worked out once.
// Beside what the core knows, Python wants to know two things of a view; views of it inherit them.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "memory/tensor.h"

namespace trnsim::python {

struct ViewMarks {
  bool dynamic = false;      // the kernel computed its address
  bool private_hbm = false;  // made as nl.private_hbm
};

class TensorObject {
 public:
  TensorObject() = default;
  explicit TensorObject(memory::Tensor tensor, ViewMarks marks = {})
      : tensor_(std::move(tensor)), marks_(marks) {}
  // With an access pattern of its own: an indirect tile.
  TensorObject(memory::Tensor tensor, const memory::AccessPattern& access)
      : tensor_(std::move(tensor)), access_(access), places_(tensor_.storage()->places) {}

  const memory::Tensor& tensor() const { return tensor_; }
  ViewMarks& marks() { return marks_; }
  ViewMarks marks() const { return marks_; }
  const memory::AccessPattern& access() const {
    memory::Allocation& storage = *tensor_.storage();
    if (access_.present()) storage.ensure_placed();  // it may have given way to another
    if (!access_.present() || places_ != storage.places) {
      access_ = tensor_.access();
      places_ = storage.places;
    }
    return access_;
  }

 private:
  memory::Tensor tensor_;
  ViewMarks marks_;
  mutable memory::AccessPattern access_;
  mutable std::uint32_t places_ = 0;  // of the storage, when access_ was worked out
};

void bind_tensor(nanobind::module_& m);
// The tensor that `object` is, or that its attribute `tensor` holds; nullptr where there is none.
const TensorObject* tensor_of(PyObject* object);

// Element types as Python sees them: numpy dtypes, and names where numpy has none.
numerics::Dtype dtype_of(nanobind::handle object);
nanobind::object dtype_object(numerics::Dtype dtype);

memory::Dims dims_of(nanobind::handle shape);
nanobind::tuple tuple_of(const memory::Dims& dims);

}  // namespace trnsim::python
