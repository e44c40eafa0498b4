#include "errors.h"

#include <array>

#include "core/non_finite.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

constexpr int kFaults = 6;
std::array<PyObject*, kFaults> classes{};  // by Fault; live as long as the interpreter

PyObject* new_class(nb::module_& m, const char* name, nb::object bases, const char* doc) {
  nb::dict members;
  members["__doc__"] = doc;
  members["__module__"] = "trnsim";
  nb::object type = nb::borrow(reinterpret_cast<PyObject*>(&PyType_Type))(name, bases, members);
  m.attr(name) = type;
  return type.release().ptr();
}

PyObject* non_finite = nullptr;  // below ProgramError

nb::object borrowed(PyObject* object) { return nb::borrow(object); }

}  // namespace

void bind_errors(nb::module_& m) {
  PyObject* base = new_class(
      m, "Error", nb::make_tuple(borrowed(PyExc_Exception)),
      "Any refusal of the simulator. `rule` is the id of the broken rule, or an empty string.");
  const auto derive = [&](const char* name, PyObject* parent, PyObject* builtin, const char* doc) {
    return new_class(m, name, nb::make_tuple(borrowed(parent), borrowed(builtin)), doc);
  };
  PyObject* unsupported = derive("Unsupported", base, PyExc_NotImplementedError,
                                 "Outside what the simulator does, with the reason.");
  const auto kind = [&](const char* name, const char* doc) {
    return new_class(m, name, nb::make_tuple(borrowed(unsupported)), doc);
  };
  classes[static_cast<int>(Fault::kProgram)] =
      derive("ProgramError", base, PyExc_ValueError,
             "The kernel breaks a rule of the hardware or of the language.");
  non_finite =
      new_class(m, "NonFiniteError",
                nb::make_tuple(borrowed(classes[static_cast<int>(Fault::kProgram)]),
                               borrowed(PyExc_ArithmeticError)),
                "The kernel made its first NaN or infinity, which stop_on_nan asks to be told of.");
  classes[static_cast<int>(Fault::kUnsupported)] = unsupported;
  classes[static_cast<int>(Fault::kUnimplemented)] =
      kind("Unimplemented", "Planned, not there yet.");
  classes[static_cast<int>(Fault::kMissingSpec)] =
      kind("MissingSpec", "No public document says what the hardware does.");
  classes[static_cast<int>(Fault::kConfig)] = derive(
      "ConfigError", base, PyExc_ValueError, "A bad file, option or name given by the user.");
  classes[static_cast<int>(Fault::kInternal)] =
      derive("InternalError", base, PyExc_RuntimeError, "A defect of the simulator.");
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      set_python_error(error);
    }
  });
}

void set_python_error(const Error& error) {
  const bool is_non_finite = dynamic_cast<const core::NonFinite*>(&error) != nullptr;
  PyObject* type = is_non_finite ? non_finite : classes[static_cast<int>(error.fault())];
  PyObject* instance = PyObject_CallFunction(type, "s", error.message().c_str());
  if (!instance) return;
  PyObject* rule = PyUnicode_FromString(error.rule().c_str());
  if (rule) PyObject_SetAttrString(instance, "rule", rule);
  Py_XDECREF(rule);
  PyErr_SetObject(type, instance);
  Py_DECREF(instance);
}

std::optional<Fault> fault_of(nb::handle exception) {
  // The more special classes stand behind Unsupported, their common base.
  for (int fault = kFaults - 1; fault >= 0; --fault) {
    if (static_cast<Fault>(fault) == Fault::kUnsupported) continue;
    if (PyObject_IsInstance(exception.ptr(), classes[fault]) == 1) return static_cast<Fault>(fault);
  }
  if (PyObject_IsInstance(exception.ptr(), classes[static_cast<int>(Fault::kUnsupported)]) == 1) {
    return Fault::kUnsupported;
  }
  return std::nullopt;
}

}  // namespace trnsim::python
