#include "timing/dma_engines.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trnsim::timing {

DmaEngines::DmaEngines(const catalog::Dma& spec, Hbm& hbm)
    : spec_(spec), hbm_(hbm), engines_(static_cast<std::size_t>(spec.engines)) {}

double DmaEngines::ns_of_a_piece(const isa::DmaWork& work, double fixed) const {
  double rate = spec_.sustained_rate;
  if (work.transpose) {
    rate *= work.reads_hbm ? spec_.transpose_hbm_fraction : spec_.transpose_sbuf_fraction;
  }
  if (work.accumulates) rate *= spec_.compute_fraction;
  const double bytes = static_cast<double>(work.element_bytes);
  const double descriptors = std::ceil(bytes / spec_.descriptor_payload_max);
  return descriptors * fixed * spec_.descriptor_fixed + bytes / rate;
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
  const double per_lane = static_cast<double>(work.elements) / lanes;
  const int lanes_per_engine = std::max(1, static_cast<int>(spec_.partitions_per_engine));
  const double lane_ns = per_lane * ns_of_a_piece(work, fixed);
  const double fixed_ns = fixed * spec_.transfer_fixed;
  const Picoseconds full_group = from_ns(fixed_ns + lane_ns * lanes_per_engine);
  constexpr Picoseconds kNever{std::numeric_limits<std::int64_t>::max()};
  Service service{
      .begin = kNever, .end = ready, .last_begin = ready, .after = TransferServer::kNoTransfer};
  // Each engine serves a group of neighbouring partitions; lanes beyond the last engine wrap
  // around.
  for (int lane = 0; lane < lanes;) {
    const int at = first_lane + lane;
    const int in_group = std::min(lanes - lane, lanes_per_engine - at % lanes_per_engine);
    const Picoseconds time =
        in_group == lanes_per_engine ? full_group : from_ns(fixed_ns + lane_ns * in_group);
    occupy(engines_[at / lanes_per_engine % engines], ready, time, transfer, service);
    lane += in_group;
  }
  if (work.reads_hbm || work.writes_hbm) {
    const double crossings = work.reads_hbm && work.writes_hbm ? 2 : 1;
    const double bytes = crossings * static_cast<double>(work.bytes);
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
