// What an instruction costs, in time and work, as its own file says from the catalogue's numbers.
// When it runs, and what it waits for, is the clock's business.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.h"
#include "catalog/core.h"
#include "isa/operand.h"

namespace trnsim::isa {

// The transfers behind one DMA instruction, as its descriptors describe them.
struct DmaWork {
  std::int64_t bytes = 0;          // moved, counted once
  std::int64_t elements = 0;       // contiguous pieces (descriptors' elements)
  std::int64_t element_bytes = 0;  // of one piece
  std::int32_t lanes = 0;          // pieces that can go to different engines (partitions)
  bool transpose = false;
  bool accumulates = false;
  std::int64_t hbm_read = 0;             // bytes
  std::int64_t hbm_written = 0;          // bytes
  DgeMode descriptors = DgeMode::kNone;  // who makes them: nobody, they were built before
  bool by_scalar = false;                // hardware: through the Scalar Engine, not Sync

  // These transfers and those of `more`, as one instruction.
  void add(const DmaWork& more);
};

// Parts of the Tensor Engine's array, each 1/4 of its rows by 1/4 of its columns: bit 4 r + c.
using ArrayParts = std::uint16_t;
inline constexpr ArrayParts kWholeArray = 0xffff;

struct Cost {
  Picoseconds occupancy;  // until the engine can start the next instruction
  Picoseconds latency;    // until the result can be used; at least `occupancy`
  std::int64_t flops = 0;
  // Tensor Engine: what of the array it takes, and for how long; at least `occupancy`.
  ArrayParts array_parts = kWholeArray;
  Picoseconds array_busy{};
  std::int8_t table_set = 0;  // Scalar Engine: table set that must be loaded; 0 for any
  DmaWork dma{};
};

class CostModel {
 public:
  explicit CostModel(const catalog::Core& core) : core_(core) {}
  const catalog::Core& core() const { return core_; }

  // Cycles of the engine. It is busy for at least the minimum initiation interval; the result is
  // visible a drain after the last element.
  Cost vector(double cycles) const;
  Cost scalar(double cycles, double drain_ns) const;
  Cost gpsimd(double cycles) const;  // software start included
  Cost on(Engine engine, double cycles) const;

  // How much later a result comes for one [P, 1] tile that is read as a scalar.
  Picoseconds operand_read(Engine engine) const;

  // 1, or the factor by which a pattern whose inner stride exceeds the threshold slows the engine's
  // port.
  double stride_slowdown(const Tile& tile) const;

 private:
  const catalog::Core& core_;
};

// Elements whose size and place let the faster modes apply: 16-bit floats.
inline bool is_16bit_float(const Tile& tile) {
  return tile.dtype == Dtype::kBfloat16 || tile.dtype == Dtype::kFloat16;
}
inline bool unit_stride(const Tile& tile) { return tile.inner_stride() == tile.element_bytes(); }

}  // namespace trnsim::isa
