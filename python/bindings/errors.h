// Errors of the simulator as Python exceptions: one class per kind of fault, below trnsim.Error.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "base/error.h"

namespace trnsim::python {

void bind_errors(nanobind::module_& m);
// Sets the Python error for `error`; for code that talks to CPython directly.
void set_python_error(const Error& error);
// The fault of an exception that is one of ours.
std::optional<Fault> fault_of(nanobind::handle exception);

}  // namespace trnsim::python
