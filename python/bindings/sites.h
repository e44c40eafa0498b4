// The user's source line behind an instruction: the innermost Python frame outside the simulator's
// own package.
#pragma once

#include <Python.h>

#include <cstdint>
#include <string>
#include <unordered_map>

#include "program/program.h"

namespace trnsim::python {

class Sites {
 public:
  explicit Sites(program::Program& program) : program_(program) {}
  ~Sites();
  Sites(const Sites&) = delete;

  std::uint32_t current();

  // Frames of files below this folder are the simulator's own.
  static void set_package_folder(std::string folder);

 private:
  struct Known {
    bool own;                                      // code of the simulator itself
    std::unordered_map<int, std::uint32_t> sites;  // by offset of the calling instruction
  };
  Known& known(PyCodeObject* code);
  std::uint32_t site_of(PyFrameObject* frame, PyCodeObject* code, Known& known);

  program::Program& program_;
  std::unordered_map<PyCodeObject*, Known> codes_;  // holds a reference to each key; looked up only
};

}  // namespace trnsim::python
