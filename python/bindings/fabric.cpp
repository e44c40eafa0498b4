// Topologies as Python sees them, what collectives leave in the ranks' buffers, and the clock of
// several ranks.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "fabric/execute.h"
#include "fabric/machine.h"
#include "launch.h"
#include "ranks/ranks.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

// What is asked of the fabric, as Python writes it down.
struct Asked {
  std::string collective;
  std::int64_t elements = 0;
  int element_bytes = 1;
  std::vector<std::int64_t> group;
  bool in_memory = true;
  std::vector<std::pair<int, int>> pairs;  // of a permute, as places in the group

  fabric::Request request() const {
    fabric::Request request;
    request.collective = fabric::collective_from_name(collective);
    request.elements = elements;
    request.element_bytes = element_bytes;
    request.size = static_cast<std::int64_t>(group.size());
    request.ranks = group;
    request.in_memory = in_memory;
    request.pairs = pairs;
    return request;
  }
};

std::vector<nb::bytes> reduce(const fabric::Topology& topology, const Asked& asked,
                              nb::handle dtype, const std::string& op,
                              const std::vector<nb::bytes>& sources) {
  std::vector<std::vector<std::byte>> buffers;
  for (const nb::bytes& source : sources) {
    const auto* data = static_cast<const std::byte*>(source.data());
    buffers.emplace_back(data, data + source.size());
  }
  const fabric::Plan plan = fabric::make_plan(topology, asked.request());
  fabric::reduce(plan, dtype_of(dtype), fabric::operator_from_name(op), &buffers);
  std::vector<nb::bytes> results;
  for (const auto& buffer : buffers) results.emplace_back(buffer.data(), buffer.size());
  return results;
}

using Places = std::vector<std::tuple<std::size_t, std::size_t, std::uint32_t>>;

void clock_together(const fabric::Topology& topology, const std::vector<Launch*>& launches,
                    const std::vector<std::pair<Asked*, Places>>& steps) {
  if (launches.empty()) return;
  std::vector<ranks::Programs> programs;
  for (Launch* launch : launches) programs.push_back(launch->programs());
  std::vector<ranks::Step> clocked;
  for (const auto& [asked, places] : steps) {
    clocked.push_back({asked->request(), {}});
    for (const auto& [launch, core, instruction] : places)
      clocked.back().places.push_back({launch, core, instruction});
  }
  auto timelines = ranks::clock(programs, clocked, topology, launches.front()->chip(),
                                {.scheduling = launches.front()->scheduling()});
  for (std::size_t i = 0; i < launches.size(); ++i) launches[i]->adopt(std::move(timelines[i]));
}

}  // namespace

void bind_fabric(nb::module_& m) {
  nb::class_<Asked>(m, "Collective")
      .def(
          "__init__",
          [](Asked* self, std::string collective, std::int64_t elements, int element_bytes,
             std::vector<std::int64_t> group, bool in_memory,
             std::vector<std::pair<int, int>> pairs) {
            new (self) Asked{std::move(collective), elements,  element_bytes,
                             std::move(group),      in_memory, std::move(pairs)};
          },
          nb::arg("collective"), nb::arg("elements"), nb::arg("element_bytes"), nb::arg("group"),
          nb::arg("in_memory") = true, nb::arg("pairs") = std::vector<std::pair<int, int>>{});
  nb::class_<fabric::Topology>(m, "Topology")
      .def_prop_ro("name", [](const fabric::Topology& t) { return t.name; })
      .def_prop_ro("accelerator", [](const fabric::Topology& t) { return t.accelerator; })
      .def_prop_ro("ranks", [](const fabric::Topology& t) { return t.ranks(); })
      .def_prop_ro("switched",
                   [](const fabric::Topology& t) {
                     return t.axes.front().kind == fabric::AxisKind::kSwitch;
                   })
      .def_prop_ro("ranks_per_chip", [](const fabric::Topology& t) { return t.ranks_per_chip; })
      .def_prop_ro("ranks_per_instance",
                   [](const fabric::Topology& t) { return t.inner_chips() * t.ranks_per_chip; })
      .def("reduce", &reduce, nb::arg("asked"), nb::arg("dtype"), nb::arg("op"), nb::arg("sources"),
           "What an all_reduce or reduce_scatter leaves in each rank, given each rank's source.")
      .def("clock", &clock_together, nb::arg("launches"), nb::arg("steps"),
           "Clock launches of several ranks together; steps: (Collective, [(launch, core, "
           "instruction) of each rank]).");
  m.def(
      "find_topology",
      [](const std::string& hardware, const std::string& name, int logical_core_size) {
        return fabric::find_topology(name, catalog::load(hardware), logical_core_size);
      },
      nb::arg("hardware"), nb::arg("name"), nb::arg("logical_core_size") = 0,
      "An instance, UltraServer, several of them (trn2.48xlarge:4) or a .toml file.");
}

}  // namespace trnsim::python
