#include "catalog/catalog.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <variant>

#include "base/error.h"
#include "launch.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

// What the catalogue says about the chip's core, in the schema's unit: "psum.banks".
double number_of(const catalog::Chip& chip, const std::string& path) {
  const catalog::Fact* fact = chip.fact("core." + path);
  const double* value = fact ? std::get_if<double>(&fact->value) : nullptr;
  if (!value) config_error("{} has no number '{}' in its core", chip.name, path);
  return *value;
}

}  // namespace

void bind_catalog(nb::module_& m) {
  nb::class_<catalog::Chip>(m, "Chip")
      .def_prop_ro("name", [](const catalog::Chip& c) { return c.name; })
      .def_prop_ro("generation", [](const catalog::Chip& c) { return c.core.version(); })
      .def_prop_ro("logical_core_size",
                   [](const catalog::Chip& c) { return static_cast<int>(c.logical_core_size); })
      .def("number", &number_of, nb::arg("path"),
           "A figure of the chip's core by its path in hardware/cores, such as 'psum.banks'.");
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
