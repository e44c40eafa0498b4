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

  // The variable that the user's line assigns the present call's value to; empty where none takes
  // it directly.
  std::string assigned_name();

  // Frames of files below this folder are the simulator's own.
  static void set_package_folder(std::string folder);

 private:
  struct Known {
    bool own;                                      // code of the simulator itself
    std::unordered_map<int, std::uint32_t> sites;  // by offset of the calling instruction
    std::unordered_map<int, std::string> names;    // likewise
  };
  Known& known(PyCodeObject* code);
  // Calls fn(frame, code, known) for the user's innermost frame, if there is one.
  template <class Fn>
  void at_user_frame(Fn&& fn);
  std::uint32_t site_of(PyFrameObject* frame, PyCodeObject* code, Known& known);

  program::Program& program_;
  std::unordered_map<PyCodeObject*, Known> codes_;  // holds a reference to each key; looked up only
};

}  // namespace trnsim::python
