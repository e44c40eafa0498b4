// nki.isa.NkiInstruction: what an instruction's call returns. A handle is two numbers, the core's
// and the instruction's, so that a call pays next to nothing for it; it keeps nothing alive.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace trnsim::python {

// A new reference; nullptr, with the Python error set, when there is no memory.
PyObject* new_handle(std::uint64_t core, std::uint64_t instruction);

void bind_handle(nanobind::module_& m);

}  // namespace trnsim::python
