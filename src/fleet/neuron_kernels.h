// Representative kernels of a NeuronCore, recorded without values and clocked: how long one more
// block takes when the kernel runs steadily, and what its first block costs on top. The costs of
// instructions and transfers, and what they wait for, are the clock's; here are only loops.
#pragma once

#include <cstdint>

#include "catalog/chip.h"
#include "fleet/layout.h"

namespace trnsim::fleet {

struct Steady {
  double first = 0;  // seconds until the steady state, beyond one block
  double block = 0;  // seconds per block
};

// dst[m, n] += a[m, k] b[k, n], all in HBM, n and m cut into tiles of 512 and 128. `sums`: how many
// of the blocks along k are added up before the result goes to memory. `pack`: small products that
// share a transfer.
struct MatmulBlock {
  std::int64_t m = 0, k = 0, n = 0, sums = 1, pack = 1;
  auto operator<=>(const MatmulBlock&) const = default;
};
Steady clock_matmul(const catalog::Chip& chip, const MatmulBlock& block, Precision precision);

// 128 x 2048 elements in, some passes of the Vector and the Scalar Engine, and out.
inline constexpr std::int64_t kPassColumns = 2048;
struct PassBlock {
  std::int64_t columns_in = 0, columns_out = 0;  // bytes per partition
  int arithmetic = 0, functions = 0;
  auto operator<=>(const PassBlock&) const = default;
};
Steady clock_pass(const catalog::Chip& chip, const PassBlock& block, Precision precision);

// One tile of 128 queries against one tile of 512 keys, as flash attention does it.
struct FlashBlock {
  std::int64_t head_dim = 0, value_dim = 0;
  bool backward = false;
  auto operator<=>(const FlashBlock&) const = default;
};
Steady clock_flash(const catalog::Chip& chip, const FlashBlock& block, Precision precision);

}  // namespace trnsim::fleet
