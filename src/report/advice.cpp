#include "report/advice.h"

#include <fmt/core.h>

#include "report/summary.h"

namespace trnsim::report {
namespace {

struct Rule {
  std::string_view resource;  // the binding one's name begins like this
  std::string_view advice;
};

// The first rule that fits holds, so the more special stand first.
constexpr Rule kRules[] = {
    {"DMA descriptors",
     "lengthen the contiguous pieces of transfers: from 2 KiB on, bytes count and not pieces"},
    {"DMA latency",
     "start loads earlier and move more per transfer, so that its start and end are hidden"},
    {"DMA issue", "use fewer, larger transfers: their issue holds up the queue"},
    {"DMA bandwidth",
     "move fewer bytes: keep reused tiles in SBUF, use larger blocks or narrower dtypes"},
    {"cold Tensor Engine",
     "keep the Tensor Engine busy without gaps: it runs at a reduced rate after idling"},
    {"activation table loads",
     "group activations that share a table set: each change of set loads tables"},
    {"meetings of cores",
     "let the cores of a launch meet less often, and bring them there at the same time"},
    {"semaphores",
     "let an engine work longer between hand-overs: larger tiles, fewer changes of engine"},
    {"Tensor Engine result latency",
     "interleave independent matmuls: results take a while to leave the array"},
    {"Tensor Engine",
     "bf16 or fp8 inputs and moving tiles of 512 columns come closest to the peak"},
    {"Vector Engine result latency",
     "interleave independent work: the Vector Engine waits for its own results"},
    {"Vector Engine",
     "fuse operations, use 16-bit data, or give the Scalar or GpSimd Engine a share"},
    {"Scalar Engine result latency",
     "interleave independent work: the Scalar Engine waits for its own results"},
    {"Scalar Engine",
     "fuse scale, bias and reduction into activations; let the Vector Engine copy"},
    {"GpSimd Engine", "move what another engine can do away from GpSimd, which starts slowly"},
};

}  // namespace

std::string advice(const Summary& summary) {
  if (summary.resources.empty()) return "nothing ran on the device";
  if (summary.model_flops_utilization > 0.9)
    return "little is left: the Tensor Engine is close to its bf16 peak";
  for (const Rule& rule : kRules) {
    if (summary.resources.front().name.starts_with(rule.resource)) return std::string(rule.advice);
  }
  return "nothing stands out";
}

}  // namespace trnsim::report
