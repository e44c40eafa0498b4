#include "catalog/catalog.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <memory>

#include "launch.h"

namespace nb = nanobind;

namespace trnsim::python {

void bind_catalog(nb::module_& m) {
  nb::class_<catalog::Chip>(m, "Chip")
      .def_prop_ro("name", [](const catalog::Chip& c) { return c.name; })
      .def_prop_ro("generation", [](const catalog::Chip& c) { return c.core.version(); });
  m.def(
      "load_chip",
      [](const std::string& hardware, const std::string& name) {
        return std::make_shared<const catalog::Chip>(
            catalog::find_chip(name, catalog::load(hardware)));
      },
      nb::arg("hardware"), nb::arg("name"),
      "A chip of the catalogue, or of the user's own TOML file.");
}

}  // namespace trnsim::python
