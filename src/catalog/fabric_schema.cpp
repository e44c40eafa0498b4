// Rows of a fabric: the catalogue's, and a user's own topology.
#include "catalog/fabric.h"
#include "catalog/schema.h"

namespace trnsim::catalog {
namespace {

template <std::size_t Index, auto Member>
Slot axis_slot(void* record) {
  return &(static_cast<Fabric*>(record)->shape.axes[Index].*Member);
}

template <std::size_t Index>
void add_axis(std::vector<Field>& fields) {
  using A = FabricAxis;
  const std::string axis = "axis" + std::to_string(Index + 1);
  const auto number = [](Slot (*slot)(void*)) {
    return Access{slot, false, false, Access::Kind::kNumber};
  };
  fields.push_back({axis + ".kind",
                    "",
                    {axis_slot<Index, &A::kind>, false, false, Access::Kind::kText},
                    "ring, line or switch"});
  fields.push_back(
      {axis + ".size", "count", number(axis_slot<Index, &A::size>), "places along it"});
  fields.push_back({axis + ".each_way", "GB/s", number(axis_slot<Index, &A::each_way>),
                    "one link, or a port of the switch, one direction"});
  fields.push_back({axis + ".latency", "ns", number(axis_slot<Index, &A::latency>), "of one hop"});
}

Schema make_schema() {
  using F = Fabric;
  using S = FabricSteps;
  using R = FabricRates;
  // clang-format off
  Schema schema{"fabric", {
    {"serves", "", at<F, &F::serves>, "chips or GPUs that it joins"},
    {"steps.start", "ns", at<F, &F::steps, &S::start>, "before the first step of a collective"},
    {"steps.direct", "ns", at<F, &F::steps, &S::direct>, "a step between any two ranks"},
    {"steps.reduction", "ns", at<F, &F::steps, &S::reduction>, "what such a step takes longer if it reduces"},
    {"steps.ring", "ns", at<F, &F::steps, &S::ring>, "a step of a ring; without it the hop of the link"},
    {"steps.network", "ns", at<F, &F::steps, &S::network>,
     "after a message between instances, before its sender goes on"},
    {"rates.stream", "GB/s", at<F, &F::rates, &R::stream>, "at most from one rank to one other"},
    {"rates.mesh_rank", "GB/s", at<F, &F::rates, &R::mesh_rank>, "at most out of one rank by the mesh algorithm"},
    {"rates.memory_efficiency", "ratio", at<F, &F::rates, &R::memory_efficiency>,
     "share of the memory's bandwidth that collectives reach"},
    {"rates.link_efficiency", "ratio", at<F, &F::rates, &R::link_efficiency>, "the same of a link"},
    {"rates.network_efficiency", "ratio", at<F, &F::rates, &R::network_efficiency>, "the same of a network card"},
    {"choices.flat_ring_from", "B", at<F, &F::choices, &FabricChoices::flat_ring_from>,
     "messages this large go in one ring through all instances"},
    {"shape.ranks_per_accelerator", "count", at<F, &F::shape, &FabricShape::ranks_per_accelerator>,
     "ranks of one accelerator"},
    {"shape.memory", "GB/s", at<F, &F::shape, &FabricShape::memory>, "memory bandwidth of one accelerator"},
  }};
  // clang-format on
  add_axis<0>(schema.fields);
  add_axis<1>(schema.fields);
  add_axis<2>(schema.fields);
  add_axis<3>(schema.fields);
  return schema;
}

}  // namespace

const Schema& fabric_schema() {
  static const Schema kSchema = make_schema();
  return kSchema;
}

}  // namespace trnsim::catalog
