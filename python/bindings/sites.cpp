#include "sites.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>

namespace nb = nanobind;

namespace trnsim::python {
namespace {

std::string& package_folder() {
  static std::string folder;
  return folder;
}

std::string text(PyObject* unicode) {
  const char* utf8 = unicode ? PyUnicode_AsUTF8(unicode) : nullptr;
  if (!utf8) PyErr_Clear();
  return utf8 ? utf8 : "";
}

}  // namespace

void Sites::set_package_folder(std::string folder) { package_folder() = std::move(folder); }

Sites::~Sites() {
  for (auto& entry : codes_) Py_DECREF(entry.first);
}

Sites::Known& Sites::known(PyCodeObject* code) {
  const auto it = codes_.find(code);
  if (it != codes_.end()) return it->second;
  Py_INCREF(code);
  const std::string& folder = package_folder();
  const bool own = !folder.empty() && text(code->co_filename).starts_with(folder);
  return codes_.emplace(code, Known{own, {}, {}}).first->second;
}

std::uint32_t Sites::site_of(PyFrameObject* frame, PyCodeObject* code, Known& known) {
  const int offset = PyFrame_GetLasti(frame);
  const auto it = known.sites.find(offset);
  if (it != known.sites.end()) return it->second;
  const program::Site site{text(code->co_filename), PyFrame_GetLineNumber(frame),
                           text(code->co_name)};
  const std::uint32_t index = program_.intern(site);
  known.sites.emplace(offset, index);
  return index;
}

template <class Fn>
void Sites::at_user_frame(Fn&& fn) {
  PyFrameObject* frame = PyEval_GetFrame();  // borrowed
  Py_XINCREF(frame);
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    Known& entry = known(code);
    Py_DECREF(code);  // `codes_` keeps it
    if (!entry.own) {
      fn(frame, code, entry);
      Py_DECREF(frame);
      return;
    }
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
}

std::uint32_t Sites::current() {
  std::optional<std::uint32_t> site;
  at_user_frame([&](PyFrameObject* frame, PyCodeObject* code, Known& known) {
    site = site_of(frame, code, known);
  });
  return site ? *site : program_.intern({});
}

std::string Sites::assigned_name() {
  std::string name;
  at_user_frame([&](PyFrameObject* frame, PyCodeObject* code, Known& known) {
    const int offset = PyFrame_GetLasti(frame);
    const auto [it, added] = known.names.try_emplace(offset);
    if (added) {
      const nb::object ask = nb::module_::import_("trnsim.assignments").attr("assigned_name");
      const nb::handle object(reinterpret_cast<PyObject*>(code));
      it->second = nb::cast<std::string>(ask(object, offset));
    }
    name = it->second;
  });
  return name;
}

}  // namespace trnsim::python
