#include "tensor.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "launch.h"
#include "memory/stretch.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

using memory::Dims;
using memory::Index;
using memory::Tensor;

PyTypeObject* tensor_type = nullptr;
PyObject* tensor_attribute = nullptr;    // interned "tensor"
PyObject* register_attribute = nullptr;  // interned "is_register"
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

bool is_register(PyObject* object) {
  return !PyLong_CheckExact(object) && object != Py_None &&
         PyObject_HasAttr(object, register_attribute);
}

// One entry of a subscript against a dimension of `size` elements; numpy's rules for negative
// numbers and clipping. What a register or nl.ds() gives is neither counted from the end nor
// clipped: the hardware would not. `dynamic` is set where a register takes part.
Index index_of(nb::handle entry, std::int64_t size, bool& dynamic) {
  if (PySlice_Check(entry.ptr())) {
    const auto* slice = reinterpret_cast<const PySliceObject*>(entry.ptr());
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(entry.ptr(), &start, &stop, &step) < 0) {
      PyErr_Clear();
      program_error("tensor.index", "tensor subscript: {} is no slice of integers",
                    nb::cast<std::string>(nb::repr(entry)));
    }
    if (is_register(slice->start) || is_register(slice->stop)) {
      dynamic = true;
      if (slice->stop == Py_None) stop = size;
      const Py_ssize_t span = stop - start + step + (step > 0 ? -1 : 1);
      return {start, std::max<Py_ssize_t>(0, span / step), step, false};
    }
    const Py_ssize_t count = PySlice_AdjustIndices(size, &start, &stop, step);
    return {start, count, step, false};
  }
  if (PyTuple_Check(entry.ptr()) && PyTuple_GET_SIZE(entry.ptr()) == 2) {  // nl.ds
    dynamic = is_register(PyTuple_GET_ITEM(entry.ptr(), 0));
    return {integer(PyTuple_GET_ITEM(entry.ptr(), 0), "nl.ds start"),
            integer(PyTuple_GET_ITEM(entry.ptr(), 1), "nl.ds size"), 1, false};
  }
  if (PyRange_Check(entry.ptr())) {  // the iterations of a loop, all at once
    return {nb::cast<std::int64_t>(entry.attr("start")), PyObject_Size(entry.ptr()),
            nb::cast<std::int64_t>(entry.attr("step")), false};
  }
  std::int64_t at = integer(entry, "tensor subscript");
  if (is_register(entry.ptr())) {
    dynamic = true;
  } else if (at < 0) {
    at += size;
  }
  return {at, 1, 1, true};
}

// Integers, slices and one Ellipsis; anything else belongs to a front end. A tile keeps at least
// two dimensions, an HBM tensor one: where integers would leave fewer, the last one is a slice.
TensorObject subscript(const TensorObject& self, nb::handle key) {
  const Dims& shape = self.tensor().shape();
  std::array<Index, Dims::kMax> indices;
  ViewMarks marks = self.marks();
  int count = 0, dynamic_entries = 0;
  const auto add = [&](nb::handle entry) {
    if (count >= shape.size()) {
      program_error("tensor.index", "tensor '{}' with shape {} takes at most {} indices",
                    self.tensor().name(), shape.text(), shape.size());
    }
    bool dynamic = false;
    indices[count] = index_of(entry, shape[count], dynamic);
    dynamic_entries += dynamic;
    ++count;
  };
  if (!PyTuple_CheckExact(key.ptr())) {
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
  if (dynamic_entries > (marks.dynamic ? 0 : 1)) {
    program_error(
        "tensor.indirect",
        "tensor '{}': a view takes one index that is known only at run time, and this one "
        "would have two; copy the first view, or compute one index from both",
        self.tensor().name());
  }
  marks.dynamic = marks.dynamic || dynamic_entries > 0;
  const bool on_chip = self.tensor().on_chip();
  int rank = shape.size();
  for (int i = on_chip ? 1 : 0; i < count; ++i) rank -= indices[i].drop;
  for (int i = count - 1; i >= 0 && rank < (on_chip ? 2 : 1); --i) {
    if (!indices[i].drop || (on_chip && i == 0)) continue;
    indices[i].drop = false;
    ++rank;
  }
  return TensorObject(
      self.tensor().slice(std::span(indices.data(), static_cast<std::size_t>(count))), marks);
}

// The dimensions that a permutation or a position names, as the core takes them.
int dim_of(nb::handle object, const char* method) {
  const std::int64_t dim = integer(object, method);
  return static_cast<int>(std::clamp<std::int64_t>(dim, -Dims::kMax - 1, Dims::kMax + 1));
}

TensorObject permute(const TensorObject& self, nb::handle dims) {
  std::vector<int> order;
  if (!PySequence_Check(dims.ptr()) || PyUnicode_Check(dims.ptr()))
    program_error("tensor.permute", "permute: dims must be a tuple of dimensions");
  for (const nb::handle dim : nb::cast<nb::object>(dims)) order.push_back(dim_of(dim, "permute"));
  return TensorObject(self.tensor().permute(order), self.marks());
}

TensorObject reinterpret(const TensorObject& self, nb::handle dtype) {
  if (self.marks().dynamic) {
    program_error("tensor.view",
                  "view of tensor '{}': its address is known only at run time; reinterpret it "
                  "before the dynamic index",
                  self.tensor().name());
  }
  return TensorObject(self.tensor().reinterpret(dtype_of(dtype)), self.marks());
}

// ap(): [step, count] pairs over the whole storage, in elements of `dtype`.
TensorObject pattern(const TensorObject& self, nb::handle pairs, std::int64_t offset,
                     nb::handle dtype_object) {
  const Tensor& tensor = self.tensor();
  const numerics::Dtype dtype = dtype_object.is_none() ? tensor.dtype() : dtype_of(dtype_object);
  const memory::Allocation& storage = *tensor.storage();
  const std::int64_t bytes = numerics::info(dtype).bytes;
  if (storage.bytes % bytes != 0) {
    program_error("tensor.view", "ap: the {} bytes of tensor '{}'{} are no whole number of {}",
                  storage.bytes, tensor.name(), tensor.on_chip() ? " in a partition" : "",
                  numerics::info(dtype).name);
  }
  const std::int64_t row = storage.bytes / bytes;
  std::vector<std::int64_t> steps, counts;
  constexpr const char* kExpected =
      "ap: an access pattern is a list of [step, count] pairs of integers";
  if (!PySequence_Check(pairs.ptr())) program_error("tensor.pattern", "{}", kExpected);
  for (const nb::handle pair : nb::cast<nb::object>(pairs)) {
    if (!PySequence_Check(pair.ptr()) || PySequence_Size(pair.ptr()) != 2)
      program_error("tensor.pattern", "{}", kExpected);
    steps.push_back(integer(nb::cast<nb::object>(pair)[0], "ap step"));
    counts.push_back(integer(nb::cast<nb::object>(pair)[1], "ap count"));
    if (counts.back() < 1) {
      program_error("tensor.pattern", "ap of tensor '{}': pair {} counts {}; it must be 1 or more",
                    tensor.name(), counts.size() - 1, counts.back());
    }
  }
  if (counts.empty()) program_error("tensor.pattern", "{}", kExpected);
  if (tensor.on_chip() && dtype == tensor.dtype()) {
    // A function that is given a part of a tile counts in the part's own rows.
    std::int64_t own_row = 1;
    for (int d = 1; d < tensor.shape().size(); ++d) own_row *= tensor.shape()[d];
    if (steps[0] == own_row) steps[0] = row;
  }
  if (tensor.on_chip() && counts[0] > 1 && steps[0] != row) {
    program_error("tensor.partition_step",
                  "ap of {} tensor '{}' steps {} elements per partition; the partition step must "
                  "be 1 (that is {} elements)",
                  memory::space_name(tensor.space()), tensor.name(), steps[0], row);
  }
  const Dims whole = tensor.on_chip() ? Dims{storage.partitions, row} : Dims{row};
  return TensorObject(Tensor(tensor.storage(), dtype, whole).pattern(steps, counts, offset),
                      self.marks());
}

// indirect(): `count` columns of this tile at the offsets in `index`.
TensorObject columns(const TensorObject& self, const TensorObject& index, std::int64_t count) {
  memory::AccessPattern columns = self.access();
  const auto memory = self.tensor().storage()->home.lock();
  if (!memory || !memory->holds(*index.tensor().storage())) {
    program_error("tensor.freed", "tensor '{}' belongs to a kernel launch that has ended",
                  (memory ? index : self).tensor().name());
  }
  columns.indirection = memory->intern({self.access(), index.access()});
  self.tensor().storage()->pinned = index.tensor().storage()->pinned = true;
  columns.dims = 2;
  columns.sizes = {columns.partitions(), static_cast<std::int32_t>(count)};
  columns.strides = {0, columns.element_bytes()};
  return TensorObject(self.tensor(), columns);
}

using HostBytes = nb::ndarray<std::uint8_t, nb::c_contig, nb::device::cpu>;
using ConstHostBytes = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;

memory::Memory& home_of(const TensorObject& self) {
  const auto memory = self.tensor().storage()->home.lock();
  if (!memory)
    program_error("tensor.freed", "tensor '{}' belongs to a kernel launch that has ended",
                  self.tensor().name());
  if (running_core() && !running_core()->core().memory().holds(*self.tensor().storage())) {
    program_error("tensor.freed", "tensor '{}' belongs to another kernel launch",
                  self.tensor().name());
  }
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

// Values that an instruction gets from outside the core: it has marked them as written.
void receive(const TensorObject& self, ConstHostBytes in) {
  if (static_cast<std::int64_t>(in.size()) != self.access().bytes())
    internal_error("buffer size does not fit the tensor");
  memory::scatter(home_of(self), self.access(), reinterpret_cast<const std::byte*>(in.data()));
}

void write_from(const TensorObject& self, ConstHostBytes in) {
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
  register_attribute = PyUnicode_InternFromString("is_register");
  m.def("register_dtype", [](const std::string& name, nb::object object) {
    const auto dtype = numerics::dtype_from_name(name);
    if (!dtype) internal_error("unknown dtype {}", name);
    dtype_objects[static_cast<std::size_t>(*dtype)] = object.release().ptr();
  });

  nb::class_<TensorObject> type(m, "Tensor", nb::is_weak_referenceable(), nb::dynamic_attr());
  tensor_type = reinterpret_cast<PyTypeObject*>(type.ptr());
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
      .def("place", [](const TensorObject& s) { s.tensor().storage()->ensure_placed(false); })
      .def("leave_out", [](const TensorObject& s) { s.tensor().storage()->left_out = true; })
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
          [](const TensorObject& s, nb::handle shape) {
            return TensorObject(s.tensor().reshape(dims_of(shape)), s.marks());
          },
          nb::arg("shape"))
      .def("permute", &permute, nb::arg("dims"))
      .def(
          "broadcast",
          [](const TensorObject& s, nb::handle dim, nb::handle size) {
            const std::int64_t times = integer(size, "broadcast size");
            if (times < 1)
              program_error("tensor.broadcast", "broadcast: size {} is not positive", times);
            return TensorObject(s.tensor().broadcast(dim_of(dim, "broadcast"), times), s.marks());
          },
          nb::arg("dim"), nb::arg("size"))
      .def(
          "expand_dim",
          [](const TensorObject& s, nb::handle dim) {
            return TensorObject(s.tensor().expand_dim(dim_of(dim, "expand_dim")), s.marks());
          },
          nb::arg("dim"))
      .def(
          "squeeze_dim",
          [](const TensorObject& s, nb::handle dim) {
            return TensorObject(s.tensor().squeeze_dim(dim_of(dim, "squeeze_dim")), s.marks());
          },
          nb::arg("dim"))
      .def("reinterpret", &reinterpret, nb::arg("dtype"))
      .def("pattern", &pattern, nb::arg("pairs"), nb::arg("offset"),
           nb::arg("dtype").none() = nb::none())
      .def("columns", &columns, nb::arg("index"), nb::arg("count"))
      .def("require_inside", [](const TensorObject& s) { s.access(); })
      .def_prop_rw(
          "is_dynamic", [](const TensorObject& s) { return s.marks().dynamic; },
          [](TensorObject& s, bool dynamic) { s.marks().dynamic = dynamic; })
      .def_prop_rw(
          "is_private", [](const TensorObject& s) { return s.marks().private_hbm; },
          [](TensorObject& s, bool is_private) { s.marks().private_hbm = is_private; })
      .def("same_storage",
           [](const TensorObject& s, const TensorObject& o) {
             return s.tensor().storage() == o.tensor().storage();
           })
      .def("read_into", &read_into, nb::arg("out"))
      .def("receive", &receive, nb::arg("values"))
      .def("write_from", &write_from, nb::arg("values"));
}

}  // namespace trnsim::python
