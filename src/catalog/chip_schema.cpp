// Every figure of a chip: path in the file, unit, member, meaning. The core's rows follow under
// "core.".
#include "catalog/chip.h"
#include "catalog/schema.h"

namespace trnsim::catalog {
namespace {

template <auto Member>
constexpr Access chip = at<Chip, Member>;
template <auto Member>
constexpr Access peak = at<Chip, &Chip::peak, Member>;
template <auto Member>
constexpr Access hbm = at<Chip, &Chip::hbm, Member>;
template <auto Member>
constexpr Access dma = at<Chip, &Chip::dma, Member>;
template <auto Member>
constexpr Access link = at<Chip, &Chip::neuronlink, Member>;
template <auto Member>
constexpr Access collectives = at<Chip, &Chip::collectives, Member>;
template <auto Member>
constexpr Access package = at<Chip, &Chip::package, Member>;

void* core_of(void* chip_record) { return &static_cast<Chip*>(chip_record)->core; }

Schema make_schema() {
  using P = ChipPeaks;
  using N = NeuronLink;
  using C = Collectives;
  // clang-format off
  Schema schema{"chip", {
    {"neuroncore", "", chip<&Chip::neuroncore>, "which NeuronCore"},
    {"cores", "count", chip<&Chip::cores>, "physical NeuronCores"},
    {"logical_core_size", "count", chip<&Chip::logical_core_size>,
     "physical cores per logical core, by default"},
    {"cc_cores", "count", chip<&Chip::cc_cores>, "engines that run collectives"},
    {"host_link_each_way", "GB/s", chip<&Chip::host_link_each_way>, "to the host, one direction"},

    {"peak.bf16", "TFLOPS", peak<&P::bf16>, "published, bf16 and fp16"},
    {"peak.tf32", "TFLOPS", peak<&P::tf32>, "published, tf32"},
    {"peak.fp32", "TFLOPS", peak<&P::fp32>, "published, fp32"},
    {"peak.fp8", "TFLOPS", peak<&P::fp8>, "published, fp8"},
    {"peak.mx", "TFLOPS", peak<&P::mx>, "published, MXFP8 and MXFP4"},
    {"peak.sparse", "TFLOPS", peak<&P::sparse>, "published, structured sparsity"},
    {"peak.int8", "TOPS", peak<&P::int8>, "published, int8"},

    {"hbm.memory", "", hbm<&Hbm::memory>, "kind of device memory"},
    {"hbm.capacity", "GiB", hbm<&Hbm::capacity>, "device memory"},
    {"hbm.bandwidth", "GB/s", hbm<&Hbm::bandwidth>, "shared by all cores"},
    {"hbm.stacks", "count", hbm<&Hbm::stacks>, "stacks, or DRAM channels"},
    {"hbm.cores_per_stack", "count", hbm<&Hbm::cores_per_stack>, "cores near one stack"},
    {"hbm.latency", "ns", hbm<&Hbm::latency>, "of one access by a DMA engine"},

    {"dma.engines", "count", dma<&ChipDma::engines>, "DMA engines of the chip"},
    {"dma.bandwidth", "GB/s", dma<&ChipDma::bandwidth>, "published, all engines"},

    {"neuronlink.version", "", link<&N::version>, "generation of the links"},
    {"neuronlink.links", "count", link<&N::links>, "links, one per neighbour or switch port"},
    {"neuronlink.bandwidth", "GB/s", link<&N::bandwidth>, "published, all links, both directions"},
    {"neuronlink.link_each_way", "GB/s", link<&N::link_each_way>,
     "one link within an instance, one direction"},
    {"neuronlink.outer_link_each_way", "GB/s", link<&N::outer_link_each_way>,
     "one link between instances, one direction"},
    {"neuronlink.server_each_way", "GB/s", link<&N::server_each_way>,
     "all links within the server, one direction"},
    {"neuronlink.rack_each_way", "GB/s", link<&N::rack_each_way>,
     "all links to the rack's switches, one direction"},
    {"neuronlink.cross_rack_each_way", "GB/s", link<&N::cross_rack_each_way>,
     "all links to the other rack, one direction"},
    {"neuronlink.hop_latency", "ns", link<&N::hop_latency>, "one step of a ring between neighbours"},

    {"collectives.mesh_below", "B", collectives<&C::mesh_below>, "smaller messages go by the mesh algorithm"},
    {"collectives.hypercube_below", "B", collectives<&C::hypercube_below>,
     "smaller ones by recursive doubling and halving, larger by rings"},
    {"collectives.streams", "count", collectives<&C::streams>, "collectives in flight of one logical core"},
    {"collectives.channels", "count", collectives<&C::channels>, "most channels"},
    {"collectives.mesh_devices_max", "count", collectives<&C::mesh_devices_max>, "most devices of a mesh"},
    {"collectives.ring_ranks_max", "count", collectives<&C::ring_ranks_max>, "most ranks of a KangaRing"},
    {"collectives.die_crossing_latency", "ns", collectives<&C::die_crossing_latency>, "added between the two dies"},
    {"collectives.die_crossing_slowdown", "ratio", collectives<&C::die_crossing_slowdown>,
     "of large transfers between the two dies"},
    {"collectives.small_transfer", "ns", collectives<&C::small_transfer>, "send and receive of 4 kB within a die"},
    {"collectives.achieved_busbw", "GB/s", collectives<&C::achieved_busbw>, "best AllReduce within one chip"},

    {"package.power", "W", package<&Package::power>, "power of the chip"},
    {"package.compute_dies", "count", package<&Package::compute_dies>, "compute dies"},
    {"package.process", "", package<&Package::process>, "semiconductor process"},
    {"package.launched", "", package<&Package::launched>, "general availability"},
  }};
  // clang-format on
  for (const Field& field : core_schema().fields) {
    schema.fields.push_back(field);
    schema.fields.back().path = "core." + field.path;
    schema.fields.back().enclosing = &core_of;
  }
  return schema;
}

}  // namespace

const Schema& chip_schema() {
  static const Schema kSchema = make_schema();
  return kSchema;
}

}  // namespace trnsim::catalog
