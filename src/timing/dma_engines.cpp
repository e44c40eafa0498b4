#include "timing/dma_engines.h"

#include <algorithm>
#include <cmath>

namespace trnsim::timing {

DmaEngines::DmaEngines(const catalog::Dma& spec, double hbm_bandwidth_gb_per_s)
    : spec_(spec),
      hbm_bandwidth_(hbm_bandwidth_gb_per_s),
      free_(static_cast<std::size_t>(spec.engines)),
      busy_(static_cast<std::size_t>(spec.engines)) {}

Picoseconds DmaEngines::time_of(const isa::DmaWork& work, double descriptors) const {
  double rate = spec_.sustained_rate;
  if (work.transpose) rate *= work.reads_hbm ? spec_.transpose_hbm_fraction : spec_.transpose_sbuf_fraction;
  const double bytes = static_cast<double>(work.element_bytes);
  const double pieces = std::ceil(bytes / spec_.descriptor_payload_max);
  return from_ns(descriptors * (pieces * spec_.descriptor_fixed + bytes / rate));
}

DmaEngines::Service DmaEngines::serve(const isa::DmaWork& work, int first_lane, Picoseconds ready) {
  const int engines = static_cast<int>(free_.size()), lanes = std::max(1, work.lanes);
  const double per_lane = static_cast<double>(work.elements) / lanes;
  const int lanes_per_engine = std::max(1, static_cast<int>(spec_.partitions_per_engine));
  Service service{.begin = {}, .end = ready, .queued = false};
  bool begun = false;
  // Partition p belongs to engine p / 8; lanes beyond the last engine wrap around.
  for (int lane = 0; lane < lanes;) {
    const int at = first_lane + lane;
    const int in_group = std::min(lanes - lane, lanes_per_engine - at % lanes_per_engine);
    const int e = at / lanes_per_engine % engines;
    const Picoseconds begin = std::max(ready, free_[e]);
    const Picoseconds time = time_of(work, per_lane * in_group);
    service.queued = service.queued || free_[e] > ready;
    service.begin = begun ? std::min(service.begin, begin) : begin;
    begun = true;
    free_[e] = begin + time;
    busy_[e] += time;
    service.end = std::max(service.end, free_[e]);
    lane += in_group;
  }
  if (work.reads_hbm || work.writes_hbm) {
    const double crossings = work.reads_hbm && work.writes_hbm ? 2 : 1;
    const Picoseconds begin = std::max(hbm_free_, service.begin);
    hbm_free_ = begin + from_ns(crossings * static_cast<double>(work.bytes) / hbm_bandwidth_);
    service.end = std::max(service.end, hbm_free_);
  }
  return service;
}

Picoseconds DmaEngines::busy() const {
  Picoseconds sum;
  for (const Picoseconds busy : busy_) sum += busy;
  return {sum.count / static_cast<std::int64_t>(busy_.size())};
}

}  // namespace trnsim::timing
