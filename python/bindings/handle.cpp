#include "handle.h"

#include "base/error.h"
#include "errors.h"
#include "launch.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

struct Handle {
  PyObject_HEAD std::uint64_t core;
  std::uint64_t instruction;
};

PyTypeObject* handle_type = nullptr;
Handle* spare = nullptr;  // the handle thrown away last: most are, at once

void dealloc(PyObject* self) {
  if (!spare) {
    spare = reinterpret_cast<Handle*>(self);
  } else {
    PyObject_Free(self);
  }
  Py_DECREF(handle_type);
}

[[noreturn]] void refuse(const char* why) {
  program_error("instruction.depends_on", "depends_on: {}", why);
}

std::uint32_t index_here(const RunningCore* running, PyObject* object) {
  if (Py_TYPE(object) != handle_type)
    refuse("takes the handles that calls of nki.isa return, such as the one of a dma_copy");
  const auto* handle = reinterpret_cast<Handle*>(object);
  if (!running || handle->core != running->number()) {
    refuse(
        "the instruction belongs to another launch or one that has ended; only instructions of "
        "the running kernel can wait for each other");
  }
  return static_cast<std::uint32_t>(handle->instruction);
}

void depend(PyObject* self, PyObject* const* producers, Py_ssize_t count) {
  RunningCore* running = running_core();
  const std::uint32_t consumer = index_here(running, self);
  for (Py_ssize_t k = 0; k < count; ++k) {
    const std::uint32_t producer = index_here(running, producers[k]);
    if (producer >= consumer) {
      program_error("instruction.depends_on",
                    "depends_on: instruction {} would wait for instruction {}, which does not come "
                    "before it; engines take their instructions in program order, so issue the "
                    "producer first",
                    consumer, producer);
    }
    if (!running->loops().in_scope(producer, consumer)) {
      program_error("instruction.depends_on",
                    "depends_on: instruction {} would wait for instruction {}, which stands in a "
                    "dynamic loop that instruction {} is not in; the producer must be in the same "
                    "loop or in one around it",
                    consumer, producer, consumer);
    }
    running->depend(consumer, producer);
  }
}

PyObject* depends_on(PyObject* self, PyObject* const* producers, Py_ssize_t count) {
  try {
    depend(self, producers, count);
    return Py_NewRef(self);
  } catch (const Error& error) {
    set_python_error(error);
    return nullptr;
  }
}

PyObject* repr(PyObject* self) {
  return PyUnicode_FromFormat(
      "<NkiInstruction %llu>",
      static_cast<unsigned long long>(reinterpret_cast<Handle*>(self)->instruction));
}

PyMethodDef methods[] = {
    {"depends_on", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&depends_on)),
     METH_FASTCALL,
     "depends_on(*producers)\n\nThis instruction starts after every producer has ended; returns "
     "itself. Raises ProgramError for producers that are no handles, come later, belong to "
     "another launch, or stand in a dynamic loop that this instruction is not in.\nSource: NKI "
     "documentation 2.32, nki.isa.NkiInstruction."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(&dealloc)},
                       {Py_tp_repr, reinterpret_cast<void*>(&repr)},
                       {Py_tp_methods, methods},
                       {Py_tp_doc, const_cast<char*>("Handle of an instruction of a kernel.")},
                       {0, nullptr}};
PyType_Spec spec = {"trnsim._native.NkiInstruction", sizeof(Handle), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

}  // namespace

PyObject* new_handle(std::uint64_t core, std::uint64_t instruction) {
  Handle* handle = spare;
  if (handle) {
    spare = nullptr;
    PyObject_Init(reinterpret_cast<PyObject*>(handle), handle_type);
  } else {
    handle = PyObject_New(Handle, handle_type);
    if (!handle) return nullptr;
  }
  handle->core = core;
  handle->instruction = instruction;
  return reinterpret_cast<PyObject*>(handle);
}

void bind_handle(nb::module_& m) {
  handle_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  m.attr("NkiInstruction") = nb::borrow(reinterpret_cast<PyObject*>(handle_type));
}

}  // namespace trnsim::python
