#include "timing/dma_engines.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trnsim::timing {

DmaEngines::DmaEngines(const catalog::Dma& spec, Hbm& hbm)
    : spec_(spec), hbm_(hbm), engines_(static_cast<std::size_t>(spec.engines)) {}

EngineTime engine_time(const catalog::Dma& dma, const isa::DmaWork& work, int lanes) {
  double rate = dma.sustained_rate;
  if (work.transpose)
    rate *= work.hbm_read > 0 ? dma.transpose_hbm_fraction : dma.transpose_sbuf_fraction;
  if (work.accumulates) rate *= dma.compute_fraction;
  const double pieces = static_cast<double>(work.elements) / std::max(1, work.lanes) * lanes;
  const double bytes = static_cast<double>(work.element_bytes);
  const double descriptors = std::ceil(bytes / dma.descriptor_payload_max);
  return {dma.transfer_fixed + pieces * descriptors * dma.descriptor_fixed, pieces * bytes / rate};
}

int lanes_of_an_engine(const catalog::Dma& dma, const isa::DmaWork& work) {
  const int most = std::max(1, static_cast<int>(dma.partitions_per_engine));
  return std::min(most, std::max(1, work.lanes));
}

Picoseconds notice(const catalog::Dma& dma, const isa::DmaWork& work) {
  // The engines of a transfer do not begin together; a single one has nobody to wait for.
  const double spread = work.lanes > dma.partitions_per_engine ? dma.spread : 0.0;
  return from_ns(spread + dma.completion_latency);
}

void DmaEngines::occupy(TransferServer& server, Picoseconds ready, Picoseconds time,
                        std::uint32_t transfer, Service& service) {
  const Picoseconds begin = std::max(ready, server.free);
  if (begin + time >= service.end) {
    service.end = begin + time;
    service.last_begin = begin;
    service.after = server.free > ready ? server.transfer : TransferServer::kNoTransfer;
  }
  service.begin = std::min(service.begin, begin);
  server.free = begin + time;
  server.busy += time;
  server.transfer = transfer;
}

DmaEngines::Service DmaEngines::serve(const isa::DmaWork& work, double fixed, int first_lane,
                                      Picoseconds ready, std::uint32_t transfer) {
  const int engines = static_cast<int>(engines_.size()), lanes = std::max(1, work.lanes);
  const int lanes_per_engine = std::max(1, static_cast<int>(spec_.partitions_per_engine));
  const auto time_of = [&](int served) {
    const EngineTime time = engine_time(spec_, work, served);
    return from_ns(fixed * time.fixed + time.moving);
  };
  const Picoseconds full_group = time_of(lanes_per_engine);
  constexpr Picoseconds kNever{std::numeric_limits<std::int64_t>::max()};
  Service service{
      .begin = kNever, .end = ready, .last_begin = ready, .after = TransferServer::kNoTransfer};
  // Each engine serves a group of neighbouring partitions; lanes beyond the last engine wrap
  // around.
  for (int lane = 0; lane < lanes;) {
    const int at = first_lane + lane;
    const int in_group = std::min(lanes - lane, lanes_per_engine - at % lanes_per_engine);
    const Picoseconds time = in_group == lanes_per_engine ? full_group : time_of(in_group);
    occupy(engines_[at / lanes_per_engine % engines], ready, time, transfer, service);
    lane += in_group;
  }
  if (const auto bytes = static_cast<double>(work.hbm_read + work.hbm_written); bytes > 0) {
    const Picoseconds engines_end = service.end;
    occupy(hbm_.server, service.begin, from_ns(bytes / hbm_.gb_per_s), transfer, service);
    service.by_hbm = service.end > engines_end;
  }
  return service;
}

Picoseconds DmaEngines::busy() const {
  Picoseconds sum;
  for (const TransferServer& engine : engines_) sum += engine.busy;
  return {sum.count / static_cast<std::int64_t>(engines_.size())};
}

}  // namespace trnsim::timing
