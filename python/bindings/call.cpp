// nki.isa functions: one callable object per instruction of the table. The signature is the
// instruction's own list of fields; a call fills the argument struct and hands it to the core of
// the current launch.
#include <Python.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <structmember.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/nearest.h"
#include "errors.h"
#include "handle.h"
#include "isa/instruction.h"
#include "launch.h"
#include "parse.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

constexpr std::size_t kMaxArgumentBytes = 3072;
constexpr std::size_t kMaxFields = 32;

struct Function {
  PyObject_HEAD vectorcallfunc vectorcall;
  const isa::InstructionType* type;
  std::vector<PyObject*>* names;  // interned, as the interpreter passes them
};

PyObject* name_keyword = nullptr;  // "name": every instruction can be named
// foreign_keyword(instruction, keyword): today's name of a keyword of another release, "" where it
// has no effect, None for one that no release has.
PyObject* foreign_keyword = nullptr;

std::size_t field_index(const Function& function, PyObject* keyword, std::size_t guess) {
  const std::vector<PyObject*>& names = *function.names;
  if (guess < names.size() && names[guess] == keyword) return guess;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == keyword) return i;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (PyUnicode_Compare(names[i], keyword) == 0) return i;
  }
  return names.size();
}

[[noreturn]] void unknown_keyword(const Function& function, PyObject* keyword) {
  std::vector<std::string> known{"name"};
  for (const isa::FieldInfo& field : function.type->fields) known.emplace_back(field.name);
  const std::string name = PyUnicode_AsUTF8(keyword), near = nearest_name(name, known);
  program_error(std::string(function.type->info.name) + ".argument",
                "{}: no argument is called '{}'{}", function.type->info.name, name,
                near.empty() ? "" : "; did you mean '" + near + "'?");
}

// Where the value of a keyword that the instruction does not list goes: a field, or nowhere.
const isa::FieldInfo* field_of_another_release(const Function& function, PyObject* keyword) {
  if (!foreign_keyword) unknown_keyword(function, keyword);
  const nb::object renamed = nb::handle(foreign_keyword)(
      nb::cast(std::string(function.type->info.name)), nb::handle(keyword));
  if (renamed.is_none()) unknown_keyword(function, keyword);
  const std::size_t i = field_index(function, renamed.ptr(), 0);
  return i < function.type->fields.size() ? &function.type->fields[i] : nullptr;
}

PyObject* call_instruction(const Function& function, PyObject* const* args, std::size_t positional,
                           PyObject* keywords) {
  RunningCore* running = running_core();
  const isa::InstructionType& type = *function.type;
  if (!running) {
    program_error("launch.outside",
                  "{}: instructions run only inside a kernel; decorate the function with @nki.jit "
                  "and call it",
                  type.info.name);
  }
  alignas(16) std::array<std::byte, kMaxArgumentBytes> buffer;
  std::memcpy(buffer.data(), type.defaults.data(), type.size());
  std::uint32_t given = 0;
  if (positional > type.fields.size()) {
    program_error(std::string(type.info.name) + ".argument",
                  "{}: takes at most {} positional arguments, got {}", type.info.name,
                  type.fields.size(), positional);
  }
  for (std::size_t i = 0; i < positional; ++i) {
    parse_argument(type.info.name, type.fields[i], args[i], buffer.data() + type.fields[i].offset);
    given |= 1u << i;
  }
  PyObject* user_name = nullptr;
  const Py_ssize_t keyword_count = keywords ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t k = 0; k < keyword_count; ++k) {
    PyObject* keyword = PyTuple_GET_ITEM(keywords, k);
    PyObject* value = args[positional + k];
    const std::size_t i = field_index(function, keyword, positional + k);
    if (i < type.fields.size()) {
      parse_argument(type.info.name, type.fields[i], value, buffer.data() + type.fields[i].offset);
      given |= 1u << i;
    } else if (PyUnicode_Compare(keyword, name_keyword) == 0) {
      user_name = value;
    } else if (const isa::FieldInfo* field = field_of_another_release(function, keyword)) {
      parse_argument(type.info.name, *field, value, buffer.data() + field->offset);
      given |= 1u << (field - type.fields.data());
    }
  }
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    if (type.fields[i].required && !(given >> i & 1)) {
      program_error(std::string(type.info.name) + ".argument", "{}: argument '{}' is missing",
                    type.info.name, type.fields[i].name);
    }
  }
  running->break_if_asked();
  running->core().issue(type, buffer.data(), running->sites().current());
  if (user_name && user_name != Py_None) {
    running->core().program().name_last(nb::cast<std::string>(nb::str(nb::handle(user_name))));
  }
  return new_handle(running->number(), running->core().program().size() - 1);
}

PyObject* vectorcall(PyObject* self, PyObject* const* args, std::size_t flagged,
                     PyObject* keywords) {
  try {
    return call_instruction(*reinterpret_cast<Function*>(self), args, PyVectorcall_NARGS(flagged),
                            keywords);
  } catch (const Error& error) {
    set_python_error(error);
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyObject* repr(PyObject* self) {
  const std::string_view name = reinterpret_cast<Function*>(self)->type->info.name;
  return PyUnicode_FromFormat("<instruction %s>", std::string(name).c_str());
}

PyObject* get_name(PyObject* self, void*) {
  const std::string_view name = reinterpret_cast<Function*>(self)->type->info.name;
  return PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
}

std::string signature(const isa::InstructionType& type) {
  std::string text = "(";
  for (const isa::FieldInfo& field : type.fields) {
    if (text.size() > 1) text += ", ";
    text += std::string(field.name) + (field.required ? "" : "=None");
  }
  return text + ", name=None)";
}

PyObject* get_doc(PyObject* self, void*) {
  const isa::InstructionType& type = *reinterpret_cast<Function*>(self)->type;
  const isa::Info& info = type.info;
  const std::string doc =
      fmt::format("{}{}\n\n{}\n\nEngines: {}.\nCost: {}.\nSource: {}.", info.name, signature(type),
                  info.summary, info.engines, info.cost, info.source);
  return PyUnicode_FromStringAndSize(doc.data(), static_cast<Py_ssize_t>(doc.size()));
}

PyObject* get_signature(PyObject* self, void*) {
  const std::string text = signature(*reinterpret_cast<Function*>(self)->type);
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

PyGetSetDef getset[] = {{"__name__", get_name, nullptr, nullptr, nullptr},
                        {"__doc__", get_doc, nullptr, nullptr, nullptr},
                        {"__text_signature__", get_signature, nullptr, nullptr, nullptr},
                        {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_repr, reinterpret_cast<void*>(repr)},
                       {Py_tp_getset, getset},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {
    "trnsim._native.Instruction", sizeof(Function), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

void bind_calls(nb::module_& m) {
  name_keyword = PyUnicode_InternFromString("name");
  PyObject* function_type = PyType_FromSpec(&spec);
  nb::module_ isa_module = m.def_submodule("isa", "The instructions, as nki.isa calls them.");
  nb::list names;
  for (const isa::InstructionType& type : isa::instruction_table()) {
    if (type.size() > kMaxArgumentBytes || type.fields.size() > kMaxFields)
      internal_error("{} has too many arguments", type.info.name);
    auto* function = reinterpret_cast<Function*>(
        PyType_GenericAlloc(reinterpret_cast<PyTypeObject*>(function_type), 0));
    function->vectorcall = vectorcall;
    function->type = &type;
    function->names = new std::vector<PyObject*>;  // as long-lived as the module
    for (const isa::FieldInfo& field : type.fields) {
      function->names->push_back(PyUnicode_InternFromString(std::string(field.name).c_str()));
    }
    isa_module.attr(std::string(type.info.name).c_str()) =
        nb::steal(reinterpret_cast<PyObject*>(function));
    names.append(std::string(type.info.name));
  }
  isa_module.attr("__all__") = names;
  m.def(
      "on_foreign_keyword", [](nb::object ask) { foreign_keyword = ask.release().ptr(); },
      nb::arg("ask"), "What to ask about keywords that an instruction does not have.");
  m.def(
      "nearest_name",
      [](const std::string& name, const std::vector<std::string>& known) {
        return nearest_name(name, known);
      },
      nb::arg("name"), nb::arg("known"), "The known name most like a mistyped one; '' for none.");
}

}  // namespace trnsim::python
