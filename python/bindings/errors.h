// Errors of the simulator as Python exceptions: one class per kind of fault, below trnsim.Error.
#pragma once

#include <nanobind/nanobind.h>

#include "base/error.h"

namespace trnsim::python {

void bind_errors(nanobind::module_& m);
// Sets the Python error for `error`; for code that talks to CPython directly.
void set_python_error(const Error& error);

}  // namespace trnsim::python
