#include "isa/cost.h"

#include <cstdlib>

#include "base/error.h"

namespace trnsim::isa {

void DmaWork::add(const DmaWork& more) {
  bytes += more.bytes;
  elements += more.elements;
  // Of pieces of several sizes, the size that gives all their bytes.
  element_bytes = elements == 0 ? 0 : (bytes + elements - 1) / elements;
  lanes = std::max(lanes, more.lanes);
  hbm_read += more.hbm_read;
  hbm_written += more.hbm_written;
}

namespace {

template <class EngineSpec>
Cost pipelined(const EngineSpec& engine, double cycles, double drain_ns) {
  const Picoseconds busy =
      from_cycles(std::max<double>(engine.min_issue_cycles, cycles), engine.clock);
  const Picoseconds done = from_cycles(cycles, engine.clock) + from_ns(drain_ns);
  return {.occupancy = busy, .latency = std::max(busy, done)};
}

}  // namespace

Cost CostModel::vector(double cycles) const {
  return pipelined(core_.vector, cycles, core_.vector.drain);
}

Cost CostModel::scalar(double cycles, double drain_ns) const {
  return pipelined(core_.scalar, cycles, drain_ns);
}

Picoseconds CostModel::operand_read(Engine engine) const {
  if (engine == Engine::kVector) return from_ns(core_.vector.operand_read);
  if (engine == Engine::kScalar) return from_ns(core_.scalar.operand_read);
  return {};
}

Cost CostModel::gpsimd(double cycles) const {
  if (!core_.gpsimd)
    unsupported("GpSimd instructions on NeuronCore-{}, because it has no GpSimd engine",
                core_.generation);
  const catalog::GpsimdEngine& engine = *core_.gpsimd;
  const Picoseconds busy = from_cycles(engine.start_cycles + cycles, engine.clock);
  return {.occupancy = busy, .latency = busy + from_ns(engine.drain)};
}

Cost CostModel::on(Engine engine, double cycles) const {
  switch (engine) {
    case Engine::kScalar:
      return scalar(cycles, core_.scalar.copy_drain);
    case Engine::kGpsimd:
      return gpsimd(cycles);
    default:
      return vector(cycles);
  }
}

double CostModel::stride_slowdown(const Tile& tile) const {
  if (!tile.on_chip() || tile.free_elements() == 1) return 1;
  return std::abs(tile.inner_stride()) > core_.sbuf.stride_threshold
             ? core_.sbuf.stride_slowdown.value
             : 1.0;
}

}  // namespace trnsim::isa
