// The DMA engines of one core. A transfer is cut into descriptors, each engine serves some partitions, engines work through
// what they are given in order of arrival, and all of them share the memory's bandwidth.
#pragma once

#include <vector>

#include "base/units.h"
#include "catalog/core.h"
#include "isa/cost.h"

namespace trnsim::timing {

class DmaEngines {
 public:
  DmaEngines(const catalog::Dma& spec, double hbm_bandwidth_gb_per_s);

  struct Service {
    Picoseconds begin;  // first engine starts to move data
    Picoseconds end;    // last engine done
    bool queued;        // an engine or the memory was still busy with an earlier transfer
  };
  Service serve(const isa::DmaWork& work, int first_lane, Picoseconds ready);

  Picoseconds busy() const;  // mean over the engines

 private:
  Picoseconds time_of(const isa::DmaWork& work, double descriptors) const;

  const catalog::Dma& spec_;
  double hbm_bandwidth_;
  std::vector<Picoseconds> free_;
  std::vector<Picoseconds> busy_;
  Picoseconds hbm_free_;
};

}  // namespace trnsim::timing
