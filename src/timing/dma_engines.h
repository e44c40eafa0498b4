// The DMA engines of one core. A transfer is cut into descriptors, each engine serves some
// partitions, engines work through what they are given in order of arrival, and all of them share
// the memory's bandwidth.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "catalog/core.h"
#include "isa/cost.h"

namespace trnsim::timing {

class DmaEngines {
 public:
  DmaEngines(const catalog::Dma& spec, double hbm_bandwidth_gb_per_s);

  struct Service {
    Picoseconds begin;       // first engine starts to move data
    Picoseconds end;         // last engine (or the memory) done
    Picoseconds last_begin;  // when that one started on this transfer
    std::uint32_t after;     // the transfer it was busy with until then; kNoTransfer when idle
  };
  static constexpr std::uint32_t kNoTransfer = ~std::uint32_t{0};
  // `transfer` is any number by which later transfers can name this one in Service::after.
  Service serve(const isa::DmaWork& work, int first_lane, Picoseconds ready,
                std::uint32_t transfer);

  Picoseconds busy() const;  // mean over the engines

 private:
  double ns_of_a_piece(const isa::DmaWork& work) const;

  const catalog::Dma& spec_;
  double hbm_bandwidth_;
  struct Server {
    Picoseconds free;
    Picoseconds busy;
    std::uint32_t transfer = kNoTransfer;  // the latest one
  };
  static void occupy(Server& server, Picoseconds ready, Picoseconds time, std::uint32_t transfer,
                     Service& service);

  std::vector<Server> engines_;
  Server hbm_;
};

}  // namespace trnsim::timing
