#include "token.h"

#include <nanobind/stl/string.h>

#include <unordered_map>

#include "isa/choices.h"
#include "numerics/elementwise.h"
#include "numerics/functions.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

PyTypeObject* token_type = nullptr;

// Foreign objects that stand for a token, such as numpy's functions. Looked up by identity, never
// iterated.
std::unordered_map<PyObject*, const Token*>& aliases() {
  static std::unordered_map<PyObject*, const Token*> map;
  return map;
}

// An operator or function by its NKI name: either or both of an ALU operator and an activation
// function.
void init_operator(Token* self, const std::string& name, const std::string& alu,
                   const std::string& activation) {
  new (self) Token{.name = name};
  if (const auto op = numerics::alu_op_from_name(alu)) self->alu_op = static_cast<int>(*op);
  if (const auto f = numerics::activation_function_from_name(activation))
    self->activation = static_cast<int>(*f);
}

// foreign_choice(group, value): the member that a number or string stood for in older releases.
PyObject* foreign_choice = nullptr;

std::string group_of(isa::FieldKind kind) {
  for (const isa::Choice& choice : isa::choices()) {
    if (choice.kind == kind) return std::string(choice.group);
  }
  return {};
}

}  // namespace

void bind_token(nb::module_& m) {
  nb::class_<Token> token(m, "Token", nb::dynamic_attr());
  token
      .def("__init__", &init_operator, nb::arg("name"), nb::arg("alu") = "",
           nb::arg("activation") = "")
      .def_ro("name", &Token::name)
      .def_ro("code", &Token::code)
      .def_prop_ro("is_alu_op", [](const Token& t) { return t.alu_op >= 0; })
      .def_prop_ro("is_activation", [](const Token& t) { return t.activation >= 0; })
      .def("__repr__", [](const Token& t) { return t.name; });
  token_type = reinterpret_cast<PyTypeObject*>(token.ptr());
  m.def(
      "stand_for",
      [](nb::object foreign, const Token& t) { aliases()[foreign.release().ptr()] = &t; },
      nb::arg("foreign"), nb::arg("token"), nb::keep_alive<0, 2>(),
      "Let a foreign object, such as numpy.add, be accepted where `token` is. Both must live to "
      "the end.");

  m.def(
      "on_foreign_choice", [](nb::object ask) { foreign_choice = ask.release().ptr(); },
      nb::arg("ask"), "What to ask about values of enumerated arguments that are no members.");

  nb::module_ choices =
      m.def_submodule("choices", "Values of enumerated arguments, by the name NKI gives them.");
  for (const isa::Choice& choice : isa::choices()) {
    const std::string group(choice.group), name(choice.name);
    if (!nb::hasattr(choices, group.c_str())) choices.attr(group.c_str()) = nb::dict();
    nb::cast<nb::dict>(choices.attr(group.c_str()))[name.c_str()] =
        nb::cast(Token{.name = name, .kind = choice.kind, .code = choice.code});
  }
}

const Token* choice_of_another_release(isa::FieldKind kind, PyObject* object) {
  if (!foreign_choice) return nullptr;
  const nb::object found = nb::handle(foreign_choice)(group_of(kind), nb::handle(object));
  return found.is_none() ? nullptr : token_of(found.ptr());  // a member of its group, which stays
}

const Token* token_of(PyObject* object) {
  if (Py_TYPE(object) == token_type || PyType_IsSubtype(Py_TYPE(object), token_type)) {
    return nb::inst_ptr<Token>(nb::handle(object));
  }
  const auto it = aliases().find(object);
  return it == aliases().end() ? nullptr : it->second;
}

}  // namespace trnsim::python
