// trnsim._native: the C++ simulator as a Python module.
#include <nanobind/nanobind.h>

#include "errors.h"
#include "handle.h"
#include "launch.h"
#include "tensor.h"
#include "token.h"

void bind_numerics(nanobind::module_& m);

NB_MODULE(_native, m) {
  using namespace trnsim::python;
  nanobind::set_leak_warnings(
      false);  // kernels' tracebacks legitimately outlive the module at interpreter exit
  bind_errors(m);
  bind_token(m);
  bind_tensor(m);
  bind_catalog(m);
  bind_launch(m);
  bind_handle(m);
  bind_calls(m);
  bind_numerics(m);
  bind_profile(m);
  bind_fabric(m);
  bind_command(m);
  bind_fleet(m);
}
