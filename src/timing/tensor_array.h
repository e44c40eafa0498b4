// Which parts of the Tensor Engine's array are taken, and until when. Matmuls on tiles of the array
// enter one after the other and run side by side; two on the same part do not.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/units.h"
#include "isa/cost.h"

namespace trnsim::timing {

class TensorArray {
 public:
  struct Holder {
    Picoseconds until;
    std::uint32_t instruction = 0;
  };

  // Who holds one of the parts longest.
  Holder holder(isa::ArrayParts parts) const {
    Holder latest{};
    if (parts == isa::kWholeArray) return latest_;
    for (; parts != 0; parts &= parts - 1) {
      const Holder& part = parts_[std::countr_zero(parts)];
      if (part.until > latest.until) latest = part;
    }
    return latest;
  }

  // Takes its parts; `entering`: how long its operands take to enter, at the rate that the clock
  // ramp allows. Returns by how much that rate makes its result later, `entering` apart.
  Picoseconds take(const isa::Cost& cost, Picoseconds start, Picoseconds entering,
                   std::uint32_t instruction) {
    Picoseconds busy = entering;
    if (cost.array_busy > cost.occupancy) {
      const double slow = entering.ns() / cost.occupancy.ns();
      busy = from_ns(cost.array_busy.ns() * slow);
    }
    const Holder holder{start + busy, instruction};
    for (isa::ArrayParts parts = cost.array_parts; parts != 0; parts &= parts - 1)
      parts_[std::countr_zero(parts)] = holder;
    if (holder.until > latest_.until) latest_ = holder;
    return (busy - entering) - (cost.array_busy - cost.occupancy);
  }

 private:
  std::array<Holder, 16> parts_{};
  Holder latest_;
};

}  // namespace trnsim::timing
