#include "sites.h"

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
  return codes_.emplace(code, Known{own, {}}).first->second;
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

std::uint32_t Sites::current() {
  PyFrameObject* frame = PyEval_GetFrame();  // borrowed
  if (!frame) return program_.intern({});
  Py_INCREF(frame);
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    Known& entry = known(code);
    Py_DECREF(code);  // `codes_` keeps it
    if (!entry.own) {
      const std::uint32_t site = site_of(frame, code, entry);
      Py_DECREF(frame);
      return site;
    }
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return program_.intern({});
}

}  // namespace trnsim::python
