// The DMA engines of one core. A transfer is cut into descriptors, each engine serves some
// partitions, engines work through what they are given in order of arrival, and all of them share
// the memory's bandwidth, also with those of other cores.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "catalog/core.h"
#include "isa/cost.h"

namespace trnsim::timing {

// Something that serves one transfer after the other.
struct TransferServer {
  static constexpr std::uint32_t kNoTransfer = ~std::uint32_t{0};
  Picoseconds free;
  Picoseconds busy;
  std::uint32_t transfer = kNoTransfer;  // the latest one
};

// The bandwidth of the HBM.
struct Hbm {
  double gb_per_s;
  TransferServer server{};
};

// What one engine spends on the pieces of so many of a transfer's partitions, in ns: on the
// transfer and its descriptors as such, and on their bytes.
struct EngineTime {
  double fixed, moving;
};
EngineTime engine_time(const catalog::Dma& dma, const isa::DmaWork& work, int lanes);
// Partitions that one engine serves at most.
int lanes_of_an_engine(const catalog::Dma& dma, const isa::DmaWork& work);
// From the last byte of a transfer until everybody knows.
Picoseconds notice(const catalog::Dma& dma, const isa::DmaWork& work);

class DmaEngines {
 public:
  // The HBM must outlive the engines.
  DmaEngines(const catalog::Dma& spec, Hbm& hbm);

  struct Service {
    Picoseconds begin;       // first engine starts to move data
    Picoseconds end;         // last engine (or the memory) done
    Picoseconds last_begin;  // when that one started on this transfer
    std::uint32_t after;     // the transfer it was busy with until then, if any
    bool by_hbm = false;     // the memory was the last to be done
  };
  // `fixed` is the part of the fixed times of a transfer and its descriptors that counts.
  // `transfer` is any number by which later transfers can name this one in Service::after.
  Service serve(const isa::DmaWork& work, double fixed, int first_lane, Picoseconds ready,
                std::uint32_t transfer);

  Picoseconds busy() const;  // mean over the engines

 private:
  const catalog::Dma& spec_;
  static void occupy(TransferServer& server, Picoseconds ready, Picoseconds time,
                     std::uint32_t transfer, Service& service);

  Hbm& hbm_;
  std::vector<TransferServer> engines_;
};

}  // namespace trnsim::timing
