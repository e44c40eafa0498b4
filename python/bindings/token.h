// A named value of an instruction's enumerated argument: nl.add, nisa.vector_engine,
// nisa.reduce_cmd.reset. Python subclasses add what the language needs (nl.add can also be called).
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>

#include "isa/field.h"

namespace trnsim::python {

struct Token {
  std::string name;
  int alu_op = -1;                                    // as numerics::AluOp; -1: not an ALU operator
  int activation = -1;                                // as numerics::ActivationFunction
  std::optional<isa::FieldKind> kind = std::nullopt;  // of the arguments that it is a choice for
  int code = 0;
};

// The member that `object` stood for in an older release; nullptr for none.
const Token* choice_of_another_release(isa::FieldKind kind, PyObject* object);
void bind_token(nanobind::module_& m);
// The token that `object` is or stands for (numpy.add stands for nl.add); nullptr where it is
// neither.
const Token* token_of(PyObject* object);

}  // namespace trnsim::python
