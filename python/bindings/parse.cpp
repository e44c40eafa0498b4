#include "parse.h"

#include <nanobind/stl/string.h>

#include <limits>
#include <string>

#include "base/error.h"
#include "launch.h"
#include "tensor.h"
#include "token.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

template <class T>
T& place(std::byte* at) {
  return *reinterpret_cast<T*>(at);
}

[[noreturn]] void wrong(std::string_view instruction, const isa::FieldInfo& field,
                        const char* expected, PyObject* object) {
  std::string got = nb::cast<std::string>(
      nb::str(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object))).attr("__name__")));
  const std::string shown = nb::cast<std::string>(nb::repr(nb::handle(object)));
  if (shown.size() < 60) got += " " + shown;
  program_error(std::string(instruction) + ".argument", "{}: {} must be {}, got {}", instruction,
                field.name, expected, got);
}

// A tensor that a kernel kept from an earlier launch would show this launch's bytes, or none.
const memory::AccessPattern& access_of(std::string_view instruction, const isa::FieldInfo& field,
                                       const TensorObject& tensor) {
  const memory::Allocation& storage = *tensor.tensor().storage();
  if (!running_core()->core().memory().holds(storage)) {
    program_error("tensor.freed",
                  "{}: {} is tensor '{}' of another kernel launch, and its values went when that "
                  "launch ended. Create the tensor in this one; to pass values on, return them "
                  "from the first kernel and give them to the second",
                  instruction, field.name, storage.name);
  }
  return tensor.access();
}

double number(std::string_view instruction, const isa::FieldInfo& field, PyObject* object) {
  double value;
  if (PyFloat_CheckExact(object)) return PyFloat_AS_DOUBLE(object);
  value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred()) {
    PyErr_Clear();
    wrong(instruction, field, "a number", object);
  }
  return value;
}

template <class Int>
Int integer(std::string_view instruction, const isa::FieldInfo& field, PyObject* object) {
  const nb::object index = nb::steal(PyNumber_Index(object));
  const std::int64_t value = index.is_valid() ? PyLong_AsLongLong(index.ptr()) : -1;
  if (PyErr_Occurred()) {
    PyErr_Clear();
    wrong(instruction, field, index.is_valid() ? "an integer of 64 bits" : "an integer", object);
  }
  if (value < std::numeric_limits<Int>::min() || value > std::numeric_limits<Int>::max()) {
    wrong(instruction, field, "an integer of 32 bits", object);
  }
  return static_cast<Int>(value);
}

const Token& choice(std::string_view instruction, const isa::FieldInfo& field, PyObject* object,
                    const char* expected) {
  const Token* token = token_of(object);
  if (!token) token = choice_of_another_release(field.kind, object);
  if (!token || token->kind != field.kind) wrong(instruction, field, expected, object);
  return *token;
}

void parse_ints(std::string_view instruction, const isa::FieldInfo& field, PyObject* object,
                isa::IntList& list) {
  list = {};
  if (PyIndex_Check(object)) {
    list.values[0] = integer<std::int32_t>(instruction, field, object);
    list.size = 1;
    return;
  }
  if (!PySequence_Check(object))
    wrong(instruction, field, "an integer or a sequence of integers", object);
  const Py_ssize_t size = PySequence_Size(object);
  if (size > static_cast<Py_ssize_t>(list.values.size()))
    wrong(instruction, field, "at most 32 integers", object);
  for (Py_ssize_t i = 0; i < size; ++i) {
    const nb::object entry = nb::steal(PySequence_GetItem(object, i));
    list.values[i] = integer<std::int32_t>(instruction, field, entry.ptr());
  }
  list.size = static_cast<std::int32_t>(size);
}

// A list or tuple; calls read(item) for each, of which there may be as many as `list` holds.
template <class List, class Read>
void parse_list(std::string_view instruction, const isa::FieldInfo& field, const char* expected,
                PyObject* object, List& list, Read&& read) {
  list = {};
  if (!PyList_Check(object) && !PyTuple_Check(object)) wrong(instruction, field, expected, object);
  const Py_ssize_t size = PySequence_Size(object);
  if (size > isa::TileList::kMax) {
    program_error(std::string(instruction) + ".argument",
                  "{}: {} has {} entries; at most {} can be", instruction, field.name, size,
                  isa::TileList::kMax);
  }
  for (Py_ssize_t i = 0; i < size; ++i) {
    const nb::object entry = nb::steal(PySequence_GetItem(object, i));
    read(entry.ptr(), static_cast<std::size_t>(i));
  }
  list.size = static_cast<std::int32_t>(size);
}

void parse_tiles(std::string_view instruction, const isa::FieldInfo& field, PyObject* object,
                 isa::TileList& list) {
  constexpr const char* kExpected = "a list of tensors";
  parse_list(instruction, field, kExpected, object, list, [&](PyObject* entry, std::size_t i) {
    const TensorObject* tensor = tensor_of(entry);
    if (!tensor) wrong(instruction, field, kExpected, entry);
    list.tiles[i] = access_of(instruction, field, *tensor);
  });
}

void parse_numbers(std::string_view instruction, const isa::FieldInfo& field, PyObject* object,
                   isa::NumberList& list) {
  parse_list(
      instruction, field, "a list of numbers", object, list,
      [&](PyObject* entry, std::size_t i) { list.values[i] = number(instruction, field, entry); });
}

void parse_affine(std::string_view instruction, const isa::FieldInfo& field, PyObject* object,
                  isa::AffinePattern& pattern) {
  constexpr const char* kExpected = "a list of up to four [step, count] pairs";
  pattern = {};
  if (!PySequence_Check(object) || PySequence_Size(object) > 4)
    wrong(instruction, field, kExpected, object);
  const Py_ssize_t dims = PySequence_Size(object);
  for (Py_ssize_t i = 0; i < dims; ++i) {
    const nb::object pair = nb::steal(PySequence_GetItem(object, i));
    if (!PySequence_Check(pair.ptr()) || PySequence_Size(pair.ptr()) != 2)
      wrong(instruction, field, kExpected, object);
    const nb::object step = nb::steal(PySequence_GetItem(pair.ptr(), 0)),
                     count = nb::steal(PySequence_GetItem(pair.ptr(), 1));
    pattern.steps[i] = integer<std::int32_t>(instruction, field, step.ptr());
    pattern.counts[i] = integer<std::int32_t>(instruction, field, count.ptr());
  }
  pattern.dims = static_cast<std::int32_t>(dims);
}

}  // namespace

void parse_argument(std::string_view instruction, const isa::FieldInfo& field, PyObject* object,
                    std::byte* at) {
  using isa::FieldKind;
  if (object == Py_None) {
    if (field.required) wrong(instruction, field, "given", object);
    return;
  }
  switch (field.kind) {
    case FieldKind::kTile: {
      const TensorObject* tensor = tensor_of(object);
      if (!tensor) wrong(instruction, field, "a tensor", object);
      place<isa::Tile>(at) = access_of(instruction, field, *tensor);
      return;
    }
    case FieldKind::kScalarOrTile: {
      auto& value = place<isa::ScalarOrTile>(at);
      if (PyFloat_CheckExact(object) || PyLong_CheckExact(object)) {
        value = {.tile = {},
                 .scalar = number(instruction, field, object),
                 .kind = isa::ScalarOrTile::Kind::kScalar};
      } else if (const TensorObject* tensor = tensor_of(object)) {
        value = {.tile = access_of(instruction, field, *tensor),
                 .scalar = 0,
                 .kind = isa::ScalarOrTile::Kind::kTile};
      } else {
        value = {.tile = {},
                 .scalar = number(instruction, field, object),
                 .kind = isa::ScalarOrTile::Kind::kScalar};
      }
      return;
    }
    case FieldKind::kAluOp: {
      const Token* token = token_of(object);
      if (!token || token->alu_op < 0)
        wrong(instruction, field, "an ALU operator such as nl.add", object);
      place<isa::AluOp>(at) = static_cast<isa::AluOp>(token->alu_op);
      return;
    }
    case FieldKind::kActivation: {
      const Token* token = token_of(object);
      if (!token || token->activation < 0)
        wrong(instruction, field, "an activation function such as nl.exp", object);
      place<numerics::ActivationFunction>(at) =
          static_cast<numerics::ActivationFunction>(token->activation);
      return;
    }
    case FieldKind::kEngine:
      place<isa::Engine>(at) = static_cast<isa::Engine>(
          choice(instruction, field, object, "an engine such as nki.isa.engine.vector").code);
      return;
    case FieldKind::kReduceCommand:
      place<isa::ReduceCommand>(at) = static_cast<isa::ReduceCommand>(
          choice(instruction, field, object, "a member of nki.isa.reduce_cmd").code);
      return;
    case FieldKind::kPerfMode:
      place<isa::PerfMode>(at) = static_cast<isa::PerfMode>(
          choice(instruction, field, object, "a member of nki.isa.matmul_perf_mode").code);
      return;
    case FieldKind::kDgeMode:
      place<isa::DgeMode>(at) = static_cast<isa::DgeMode>(
          choice(instruction, field, object, "a member of nki.isa.dge_mode").code);
      return;
    case FieldKind::kOobMode:
      place<isa::OobMode>(at) = static_cast<isa::OobMode>(
          choice(instruction, field, object, "a member of nki.isa.oob_mode").code);
      return;
    case FieldKind::kDmaEngine:
      place<isa::DmaEngine>(at) = static_cast<isa::DmaEngine>(
          choice(instruction, field, object, "a member of nki.isa.dma_engine").code);
      return;
    case FieldKind::kAffinePattern:
      return parse_affine(instruction, field, object, place<isa::AffinePattern>(at));
    case FieldKind::kIntList:
      return parse_ints(instruction, field, object, place<isa::IntList>(at));
    case FieldKind::kOptionalInt:
      place<isa::OptionalInt>(at) = {integer<std::int64_t>(instruction, field, object), true};
      return;
    case FieldKind::kInt:
      place<std::int32_t>(at) = integer<std::int32_t>(instruction, field, object);
      return;
    case FieldKind::kFloat:
      place<float>(at) = static_cast<float>(number(instruction, field, object));
      return;
    case FieldKind::kNumber:
      place<double>(at) = number(instruction, field, object);
      return;
    case FieldKind::kBool: {
      const int truth = PyObject_IsTrue(object);
      if (truth < 0) throw nb::python_error();
      place<bool>(at) = truth == 1;
      return;
    }
    case FieldKind::kTileList:
      return parse_tiles(instruction, field, object, place<isa::TileList>(at));
    case FieldKind::kNumberList:
      return parse_numbers(instruction, field, object, place<isa::NumberList>(at));
  }
}

}  // namespace trnsim::python
