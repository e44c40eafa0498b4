#include "report/views_json.h"

#include <nlohmann/json.hpp>

#include "report/critical_path.h"
#include "report/line_use.h"
#include "report/memory_use.h"
#include "report/roofline.h"
#include "report/transfer_sizes.h"

namespace trnsim::report {
namespace {

using Json = nlohmann::ordered_json;

Json lines_json(const std::vector<LineUse>& lines) {
  Json list = Json::array();
  for (const LineUse& use : lines) {
    list.push_back({{"file", use.site.file},
                    {"line", use.site.line},
                    {"function", use.site.function},
                    {"instructions", use.instructions},
                    {"critical_ns", use.critical.ns()},
                    {"critical_share", use.critical_share},
                    {"busy_ns", use.busy.ns()},
                    {"busy_share", use.busy_share},
                    {"stalled_ns", use.stalled.ns()},
                    {"stalled_share", use.stalled_share},
                    {"dma_bytes", use.bytes},
                    {"flops", use.flops}});
  }
  return list;
}

Json phase_json(const Phase& phase) {
  return {{"from_ns", phase.from.ns()},
          {"to_ns", phase.to.ns()},
          {"flops", phase.flops},
          {"hbm_bytes", phase.hbm_bytes},
          {"flops_per_byte", phase.intensity()},
          {"tflops", phase.tflops()}};
}

Json roofline_json(const Roofline& roofline) {
  Json compute = Json::array(), memory = Json::array(), phases = Json::array();
  for (const ComputeRoof& roof : roofline.compute)
    compute.push_back({{"name", roof.name}, {"tflops", roof.tflops}});
  for (const MemoryRoof& roof : roofline.memory)
    memory.push_back({{"name", roof.name}, {"gb_per_s", roof.gb_per_s}});
  for (const Phase& phase : roofline.phases) {
    Json json{{"bound_by", loss_name(phase.loss)}};
    json.update(phase_json(phase));
    phases.push_back(std::move(json));
  }
  return {{"compute_roofs", std::move(compute)},
          {"memory_roofs", std::move(memory)},
          {"run", phase_json(roofline.run)},
          {"phases", std::move(phases)}};
}

Json transfers_json(const Run& run) {
  const catalog::Dma& dma = run.chip->core.dma;
  Json classes = Json::array(), curve = Json::array();
  for (const SizeClass& size : transfer_sizes(run)) {
    classes.push_back({{"piece_bytes_from", size.piece_bytes},
                       {"transfers", size.transfers},
                       {"pieces", size.pieces},
                       {"bytes", size.bytes},
                       {"efficiency", size.efficiency},
                       {"achieved_gb_per_s", size.achieved_gb_per_s},
                       {"achieved", size.achieved}});
  }
  for (std::int64_t bytes = 4; bytes <= 65536; bytes *= 2) {
    curve.push_back({{"piece_bytes", bytes},
                     {"efficiency", piece_efficiency(dma, static_cast<double>(bytes))}});
  }
  return {{"classes", std::move(classes)}, {"efficiency_of_piece", std::move(curve)}};
}

}  // namespace

Json views_json(std::span<const Run> launch, std::size_t core) {
  const std::vector<Step> path = critical_path(launch, core);
  const Run& run = launch[core];
  const catalog::Core& spec = run.chip->core;
  const auto sbuf = static_cast<std::int64_t>(spec.sbuf.usable_bytes_per_partition);
  const auto psum = static_cast<std::int64_t>(spec.psum.banks * spec.psum.bank_bytes);
  return {{"costliest_lines", lines_json(line_uses(launch, core, path))},
          {"roofline", roofline_json(roofline(launch, core, path))},
          {"transfer_sizes", transfers_json(run)},
          {"untouched_bytes_per_partition",
           {{"sbuf", largest_gap(*run.program, memory::Space::kSbuf, sbuf)},
            {"psum", largest_gap(*run.program, memory::Space::kPsum, psum)}}}};
}

}  // namespace trnsim::report
