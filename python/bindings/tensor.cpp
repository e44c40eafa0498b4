#include "tensor.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "base/error.h"
#include "memory/stretch.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

using memory::Dims;
using memory::Index;
using memory::Tensor;

PyTypeObject* tensor_type = nullptr;
PyObject* tensor_attribute = nullptr;  // interned "tensor"
std::array<PyObject*, numerics::kDtypeCount> dtype_objects{};

std::int64_t integer(nb::handle object, const char* what) {
  const nb::object index = nb::steal(PyNumber_Index(object.ptr()));
  const std::int64_t value = index.is_valid() ? PyLong_AsLongLong(index.ptr()) : -1;
  if (PyErr_Occurred()) {
    PyErr_Clear();
    program_error("tensor.index", "{}: expected an integer{}, got {}", what,
                  index.is_valid() ? " of 64 bits" : "", nb::cast<std::string>(nb::repr(object)));
  }
  return value;
}

// One entry of a subscript against a dimension of `size` elements; numpy's rules for negative
// numbers and clipping.
Index index_of(nb::handle entry, std::int64_t size) {
  if (PySlice_Check(entry.ptr())) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(entry.ptr(), &start, &stop, &step) < 0) throw nb::python_error();
    const Py_ssize_t count = PySlice_AdjustIndices(size, &start, &stop, step);
    return {start, count, step, false};
  }
  std::int64_t at = integer(entry, "tensor subscript");
  if (at < 0) at += size;
  return {at, 1, 1, true};
}

// Integers, slices and one Ellipsis; anything else belongs to a front end.
TensorObject subscript(const TensorObject& self, nb::handle key) {
  const Dims& shape = self.tensor().shape();
  std::array<Index, Dims::kMax> indices;
  int count = 0;
  const auto add = [&](nb::handle entry) {
    if (count >= shape.size()) {
      program_error("tensor.index", "tensor '{}' with shape {} takes at most {} indices",
                    self.tensor().name(), shape.text(), shape.size());
    }
    indices[count] = index_of(entry, shape[count]);
    ++count;
  };
  if (!PyTuple_Check(key.ptr())) {
    if (key.ptr() != Py_Ellipsis) add(key);
  } else {
    const auto entries = nb::borrow<nb::tuple>(key);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].ptr() == Py_Ellipsis) {
        const int rest = shape.size() - static_cast<int>(entries.size()) + 1;
        for (int k = 0; k < rest; ++k, ++count) indices[count] = {0, shape[count], 1, false};
      } else {
        add(entries[i]);
      }
    }
  }
  return TensorObject(
      self.tensor().slice(std::span(indices.data(), static_cast<std::size_t>(count))));
}

TensorObject pattern(const TensorObject& self, const std::vector<std::vector<std::int64_t>>& pairs,
                     std::int64_t offset) {
  std::vector<std::int64_t> steps, counts;
  for (const auto& pair : pairs) {
    if (pair.size() != 2)
      program_error("tensor.pattern", "an access pattern is a list of [step, count] pairs");
    steps.push_back(pair[0]);
    counts.push_back(pair[1]);
  }
  return TensorObject(self.tensor().pattern(steps, counts, offset));
}

using HostBytes = nb::ndarray<std::uint8_t, nb::c_contig, nb::device::cpu>;

memory::Memory& home_of(const TensorObject& self) {
  const auto memory = self.tensor().storage()->home.lock();
  if (!memory)
    program_error("tensor.freed", "tensor '{}' belongs to a kernel launch that has ended",
                  self.tensor().name());
  if (!memory->geometry().real_storage) {
    unsupported(
        "reading or writing the values of tensor '{}', because this is a timing-only run or its "
        "kernel has ended",
        self.tensor().name());
  }
  return *memory;
}

void read_into(const TensorObject& self, HostBytes out) {
  if (static_cast<std::int64_t>(out.size()) != self.access().bytes())
    internal_error("buffer size does not fit the tensor");
  memory::gather(home_of(self), self.access(), reinterpret_cast<std::byte*>(out.data()));
}

void mark_written(const TensorObject& self) {
  const auto memory = self.tensor().storage()->home.lock();
  if (!memory) return;
  memory->mark_written(self.access());
  self.tensor().storage()->modified = false;
}

void require_written(const TensorObject& self) {
  if (const auto memory = self.tensor().storage()->home.lock())
    memory->require_written(self.access(), "the result");
}

void write_from(const TensorObject& self, HostBytes in) {
  if (static_cast<std::int64_t>(in.size()) != self.access().bytes())
    internal_error("buffer size does not fit the tensor");
  memory::Memory& memory = home_of(self);
  memory::scatter(memory, self.access(), reinterpret_cast<const std::byte*>(in.data()));
  mark_written(self);
}

}  // namespace

const TensorObject* tensor_of(PyObject* object) {
  if (Py_TYPE(object) == tensor_type || PyType_IsSubtype(Py_TYPE(object), tensor_type)) {
    return nb::inst_ptr<TensorObject>(nb::handle(object));
  }
  PyObject* inner = PyObject_GetAttr(object, tensor_attribute);
  if (!inner) {
    PyErr_Clear();
    return nullptr;
  }
  // The front end's object keeps its tensor alive for as long as it lives itself.
  const bool is_tensor = PyType_IsSubtype(Py_TYPE(inner), tensor_type);
  const TensorObject* tensor = is_tensor ? nb::inst_ptr<TensorObject>(nb::handle(inner)) : nullptr;
  Py_DECREF(inner);
  return tensor;
}

numerics::Dtype dtype_of(nb::handle object) {
  for (std::size_t i = 0; i < dtype_objects.size(); ++i) {
    if (dtype_objects[i] == object.ptr()) return static_cast<numerics::Dtype>(i);
  }
  for (std::size_t i = 0; i < dtype_objects.size(); ++i) {
    if (!dtype_objects[i]) continue;
    const int equal = PyObject_RichCompareBool(dtype_objects[i], object.ptr(), Py_EQ);
    if (equal == 1) return static_cast<numerics::Dtype>(i);
    PyErr_Clear();
  }
  std::string name = nb::isinstance<nb::str>(object) ? nb::cast<std::string>(object)
                     : nb::hasattr(object, "__name__")
                         ? nb::cast<std::string>(object.attr("__name__"))
                         : nb::cast<std::string>(nb::repr(object));
  if (const auto dtype = numerics::dtype_from_name(name)) return *dtype;
  unsupported("dtype {}, because NeuronCores have no such type", name);
}

nb::object dtype_object(numerics::Dtype dtype) {
  PyObject* object = dtype_objects[static_cast<std::size_t>(dtype)];
  if (object) return nb::borrow(object);
  return nb::cast(std::string(numerics::info(dtype).name));
}

Dims dims_of(nb::handle shape) {
  Dims dims;
  if (PyLong_Check(shape.ptr())) {
    dims.push_back(integer(shape, "shape"));
    return dims;
  }
  for (const nb::handle entry : nb::cast<nb::object>(shape)) {
    const std::int64_t size = integer(entry, "shape");
    if (size < 0) program_error("tensor.shape", "a shape cannot have the negative size {}", size);
    dims.push_back(size);
  }
  return dims;
}

nb::tuple tuple_of(const Dims& dims) {
  nb::object tuple = nb::steal(PyTuple_New(dims.size()));
  for (int i = 0; i < dims.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), i, PyLong_FromLongLong(dims[i]));
  return nb::borrow<nb::tuple>(tuple);
}

void bind_tensor(nb::module_& m) {
  tensor_attribute = PyUnicode_InternFromString("tensor");
  m.def("register_dtype", [](const std::string& name, nb::object object) {
    const auto dtype = numerics::dtype_from_name(name);
    if (!dtype) internal_error("unknown dtype {}", name);
    dtype_objects[static_cast<std::size_t>(*dtype)] = object.release().ptr();
  });

  nb::class_<TensorObject> type(m, "Tensor", nb::is_weak_referenceable(), nb::dynamic_attr());
  tensor_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  const auto of = [](Tensor tensor) { return TensorObject(std::move(tensor)); };
  type.def(nb::init<const TensorObject&>(), nb::arg("view"))
      .def_prop_ro("shape", [](const TensorObject& s) { return tuple_of(s.tensor().shape()); })
      .def_prop_ro("strides", [](const TensorObject& s) { return tuple_of(s.tensor().strides()); })
      .def_prop_ro("offset", [](const TensorObject& s) { return s.tensor().offset(); })
      .def_prop_ro("row_elements", [](const TensorObject& s) { return s.tensor().row_elements(); })
      .def_prop_ro("ndim", [](const TensorObject& s) { return s.tensor().shape().size(); })
      .def_prop_ro("size", [](const TensorObject& s) { return s.tensor().elements(); })
      .def_prop_ro("name", [](const TensorObject& s) { return s.tensor().name(); })
      .def_prop_ro("dtype", [](const TensorObject& s) { return dtype_object(s.tensor().dtype()); })
      .def_prop_ro("dtype_name",
                   [](const TensorObject& s) {
                     return std::string(numerics::info(s.tensor().dtype()).name);
                   })
      .def_prop_ro("itemsize",
                   [](const TensorObject& s) { return numerics::info(s.tensor().dtype()).bytes; })
      .def_prop_ro("space",
                   [](const TensorObject& s) { return memory::space_name(s.tensor().space()); })
      .def_prop_ro("address",
                   [](const TensorObject& s) {
                     memory::Allocation& a = *s.tensor().storage();
                     a.ensure_placed();
                     return std::pair(a.start_partition, a.offset);
                   })
      .def("place", [](const TensorObject& s) { s.tensor().storage()->ensure_placed(); })
      .def_prop_ro("written",
                   [](const TensorObject& s) {
                     const memory::Allocation& a = *s.tensor().storage();
                     return a.written.all() ||
                            !a.written.first_unwritten(s.access(), a.start_partition, a.offset);
                   })
      .def_prop_ro("modified", [](const TensorObject& s) { return s.tensor().storage()->modified; })
      .def("mark_written", &mark_written)
      .def("require_written", &require_written)
      .def("subscript", &subscript, nb::arg("key"))
      .def(
          "reshape",
          [=](const TensorObject& s, nb::handle shape) {
            return of(s.tensor().reshape(dims_of(shape)));
          },
          nb::arg("shape"))
      .def(
          "permute",
          [=](const TensorObject& s, const std::vector<int>& dims) {
            return of(s.tensor().permute(dims));
          },
          nb::arg("dims"))
      .def(
          "broadcast",
          [=](const TensorObject& s, int dim, std::int64_t size) {
            return of(s.tensor().broadcast(dim, size));
          },
          nb::arg("dim"), nb::arg("size"))
      .def(
          "expand_dim",
          [=](const TensorObject& s, int dim) { return of(s.tensor().expand_dim(dim)); },
          nb::arg("dim"))
      .def(
          "squeeze_dim",
          [=](const TensorObject& s, int dim) { return of(s.tensor().squeeze_dim(dim)); },
          nb::arg("dim"))
      .def(
          "reinterpret",
          [=](const TensorObject& s, nb::handle dtype) {
            return of(s.tensor().reinterpret(dtype_of(dtype)));
          },
          nb::arg("dtype"))
      .def("pattern", &pattern, nb::arg("pairs"), nb::arg("offset"))
      .def("same_storage",
           [](const TensorObject& s, const TensorObject& o) {
             return s.tensor().storage() == o.tensor().storage();
           })
      .def("read_into", &read_into, nb::arg("out"))
      .def("write_from", &write_from, nb::arg("values"));
}

}  // namespace trnsim::python
