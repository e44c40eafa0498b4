// The command line of the C++ side, with Python to run the scripts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <iostream>
#include <utility>

#include "base/error.h"
#include "cli/command_line.h"
#include "errors.h"
#include "launch.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

nb::dict dict_of(const cli::RunOptions& options) {
  nb::dict dict;
  dict["script"] = options.script.string();
  dict["arguments"] = nb::cast(options.arguments);
  dict["chip"] = options.chip;
  dict["nki"] = options.nki;
  dict["ranks"] = options.ranks;  // 0: a single one, without a fabric
  dict["on"] = options.on;
  dict["timing_only"] = options.timing_only;
  dict["lint"] = options.lint;
  dict["schedule"] = options.schedule;
  dict["quiet"] = options.quiet;
  dict["what_if"] = options.what_if;
  dict["obstacles"] = nb::cast(options.obstacles);
  dict["seed"] = options.seed;
  dict["stochastic_rounding"] = options.stochastic_rounding;
  dict["exact_integers"] = options.exact_integers;
  dict["spill"] = options.spill;
  dict["trace"] = options.trace.string();    // empty: none
  dict["report"] = options.report.string();  // as trace
  dict["fp32"] = options.fp32;
  dict["stop_on_nan"] = options.stop_on_nan;
  dict["break_at"] = options.break_at;
  dict["dump_program"] = options.dump_program.string();  // as json
  dict["save"] = options.save.string();                  // empty: nowhere
  dict["json"] = options.json.string();                  // empty: none; "-": standard output
  return dict;
}

// The simulator's errors become themselves again, so that the command line finds their exit codes.
[[noreturn]] void rethrow(nb::python_error& error) {
  if (const auto fault = fault_of(error.value()))
    throw Error(*fault, nb::str(error.value()).c_str());
  throw std::move(error);
}

int command_line(const std::vector<std::string>& args, const std::string& hardware_dir,
                 const nb::callable& run_script) {
  std::exception_ptr from_python;  // whatever else the function raises goes to the caller as it is
  const int code = cli::command_line(args, {hardware_dir, std::cout, std::cerr},
                                     [&](const cli::RunOptions& options) {
                                       try {
                                         return nb::cast<int>(run_script(dict_of(options)));
                                       } catch (nb::python_error& error) {
                                         try {
                                           rethrow(error);
                                         } catch (nb::python_error&) {
                                           from_python = std::current_exception();
                                           return static_cast<int>(cli::kBug);
                                         }
                                       }
                                     });
  std::cout.flush();
  if (from_python) std::rethrow_exception(from_python);
  return code;
}

}  // namespace

void bind_command(nb::module_& m) {
  m.def(
      "exit_code",
      [](nb::handle error) {
        const auto fault = fault_of(error);
        return fault ? cli::exit_code(*fault) : 1;
      },
      nb::arg("error"),
      "Exit code of the command for an exception; 1 where it is none of trnsim's.");
  m.def("command_line", &command_line, nb::arg("args"), nb::arg("hardware_dir"),
        nb::arg("run_script"),
        "The command `trnsim`: returns the exit code. run_script takes the options of `trnsim run` "
        "as a dict.");
}

}  // namespace trnsim::python
