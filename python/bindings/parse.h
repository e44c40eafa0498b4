// One argument of an instruction call, from a Python object into its place in the argument struct.
#pragma once

#include <Python.h>

#include "isa/field.h"

namespace trnsim::python {

// `at` is the field's place. None keeps the default of an optional argument. Throws ProgramError
// for a wrong type.
void parse_argument(std::string_view instruction, const isa::FieldInfo& field, PyObject* object,
                    std::byte* at);

}  // namespace trnsim::python
