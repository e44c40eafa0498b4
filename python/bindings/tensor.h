// trnsim._native.Tensor: a view of a simulated tensor, and its access pattern worked out once.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "memory/tensor.h"

namespace trnsim::python {

class TensorObject {
 public:
  TensorObject() = default;
  explicit TensorObject(memory::Tensor tensor) : tensor_(std::move(tensor)) {}

  const memory::Tensor& tensor() const { return tensor_; }
  const memory::AccessPattern& access() const {
    if (!access_.present()) access_ = tensor_.access();
    return access_;
  }

 private:
  memory::Tensor tensor_;
  mutable memory::AccessPattern access_;
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
