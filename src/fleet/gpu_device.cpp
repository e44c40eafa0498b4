// A GPU as a Device. A matrix product is cut into tiles, tiles go over the streaming
// multiprocessors in waves, and a last wave that is not full takes as long as a full one: NVIDIA,
// Matrix Multiplication Background User's Guide (DU-09799-001). How fast a full wave is comes from
// measured figures of the catalogue.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "fleet/device.h"

namespace trnsim::fleet {
namespace {

// Tile sizes of cuBLAS, and their rate against the largest (figure 3 of the guide).
struct TileKind {
  std::int64_t rows, columns;
  double rate;
};
constexpr TileKind kTiles[] = {{256, 128, 1}, {128, 256, 1}, {128, 128, .92}, {64, 256, .9},
                               {256, 64, .9}, {64, 128, .8}, {128, 64, .8},   {64, 64, .65}};
constexpr double kFillDepth = 128;  // columns of k that filling and draining a tile cost

double ceil_div(std::int64_t a, std::int64_t b) { return static_cast<double>((a + b - 1) / b); }

class GpuDevice : public Device {
 public:
  GpuDevice(const catalog::Gpu& gpu, double efficiency)
      : gpu_(gpu), rates_(*gpu.rates), efficiency_(efficiency) {}

  double memory_bytes() const override { return gpu_.memory ? *gpu_.memory * 1e9 : 0; }
  double reserved_bytes() const override { return rates_.reserved * 1e9; }
  double peak(Precision precision) const override {
    const std::optional<catalog::Number>& other =
        precision == Precision::kFp8 ? gpu_.peak_fp8 : gpu_.peak_tf32;
    if (precision == Precision::kBf16 || precision == Precision::kAutocast)
      return gpu_.peak_bf16 * 1e12;
    if (!other) unsupported("{} on {}, because it has no such rate", name(precision), gpu_.name);
    return *other * 1e12;
  }
  double host_bandwidth() const override {
    return (gpu_.host_link ? *gpu_.host_link : 64) * 1e9 / 2;
  }

 protected:
  double time(const Matmul& m, Precision precision) override {
    const double rate = peak(precision) * rates_.matmul / rates_.multiprocessors;
    double compute = 0;
    for (const TileKind& tile : kTiles) {
      const double tiles =
          ceil_div(m.m, tile.rows) * ceil_div(m.n, tile.columns) * static_cast<double>(m.count);
      const double waves = std::ceil(tiles / rates_.multiprocessors);
      const double seconds = waves * 2 * static_cast<double>(tile.rows * tile.columns) *
                             (static_cast<double>(m.k) + kFillDepth) / (rate * tile.rate);
      if (compute == 0 || seconds < compute) compute = seconds;
    }
    const double width = precision == Precision::kFp8 ? 1 : tensor_bytes(precision);
    const double bytes = width * static_cast<double>(m.count) *
                         static_cast<double>(m.m * m.k + m.k * m.n + m.m * m.n);
    return (std::max(compute, bytes / bandwidth()) + launch_gap()) / efficiency_;
  }
  double time(const Pass& p, Precision) override {
    return (p.elements * (p.bytes_in + p.bytes_out) / bandwidth() + launch_gap()) / efficiency_;
  }
  double flash(const AttentionWork& w, bool backward, Precision precision) override {
    const double flops = w.flops() * (backward ? 2.5 : 1);  // scores are made again
    const double rate = backward ? rates_.flash_backward : rates_.flash_forward;
    return (flops / (peak(precision) * rate) + launch_gap()) / efficiency_;
  }

 private:
  double bandwidth() const { return gpu_.memory_bandwidth * 1e9 * rates_.memory; }
  double launch_gap() const { return rates_.launch * 1e-6; }

  catalog::Gpu gpu_;
  catalog::GpuRates rates_;
  double efficiency_;
};

}  // namespace

std::unique_ptr<Device> gpu_device(const catalog::Gpu& gpu, double efficiency) {
  if (!gpu.rates)
    throw Error(Fault::kMissingSpec,
                "hardware/gpus has no [rates] of " + gpu.name +
                    ": what it reaches in training. Nearest with measured rates: h100");
  return std::make_unique<GpuDevice>(gpu, efficiency);
}

}  // namespace trnsim::fleet
