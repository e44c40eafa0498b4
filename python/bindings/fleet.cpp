// trnsim.fleet: plans as JSON text; Python makes objects of it.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "fleet/plan.h"
#include "fleet/presets.h"
#include "launch.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

std::string plan(const std::string& hardware, const Options& options, bool search) {
  const nb::gil_scoped_release unlocked;
  return fleet::plan_json(
             fleet::make_plan(fleet::request_of(options), fleet::folders_beside(hardware), search))
      .dump();
}

std::string plan_text(const std::string& hardware, const Options& options, bool search) {
  const fleet::Plan plan =
      fleet::make_plan(fleet::request_of(options), fleet::folders_beside(hardware), search);
  return fleet::plan_text(plan) + (search ? fleet::search_text(plan) : "");
}

std::vector<std::pair<std::string, std::string>> options() {
  Options all;
  for (const fleet::Option& option : fleet::options()) all.emplace_back(option.name, option.help);
  return all;
}

std::vector<std::string> models(const std::string& hardware) {
  std::vector<std::string> names;
  for (const fleet::Preset& preset : fleet::load_presets(fleet::folders_beside(hardware).models))
    names.push_back(preset.model.name);
  return names;
}

}  // namespace

void bind_fleet(nb::module_& m) {
  m.def("fleet_plan", &plan, nb::arg("hardware"), nb::arg("options"), nb::arg("search"),
        "The plan of a training run as JSON; options are pairs of names and values.");
  m.def("fleet_plan_text", &plan_text, nb::arg("hardware"), nb::arg("options"), nb::arg("search"),
        "The same as text, as `trnsim train` prints it.");
  m.def("fleet_options", &options, "Names and meanings of the options of a plan.");
  m.def("fleet_models", &models, nb::arg("hardware"), "Names of the published models.");
}

}  // namespace trnsim::python
