// A logical NeuronCore as a Device.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "fleet/device.h"
#include "fleet/neuron_kernels.h"

namespace trnsim::fleet {
namespace {

constexpr std::int64_t kBlock = 1024;

std::int64_t pieces(std::int64_t whole, std::int64_t piece) { return (whole + piece - 1) / piece; }

// Equal blocks of at most kBlock; beyond one tile, of whole tiles.
struct Cut {
  std::int64_t count, size;
};
Cut cut(std::int64_t whole, std::int64_t tile) {
  const std::int64_t count = pieces(whole, kBlock);
  const std::int64_t size = pieces(whole, count);
  return {count, size <= tile ? size : pieces(size, tile) * tile};
}

class NeuronDevice : public Device {
 public:
  NeuronDevice(const catalog::Chip& chip, int cores, double efficiency)
      : chip_(chip), cores_(cores), efficiency_(efficiency) {}

  double memory_bytes() const override { return chip_.hbm.bytes() * cores_ / chip_.cores; }
  double reserved_bytes() const override { return chip_.core.launch.microcode_bytes * cores_; }
  double peak(Precision precision) const override {
    const catalog::ChipPeaks& peak = chip_.peak;
    const std::optional<catalog::Number>& tflops = precision == Precision::kFp32 ? peak.fp32
                                                   : precision == Precision::kFp8
                                                       ? (peak.mx ? peak.mx : peak.fp8)
                                                       : peak.bf16;
    if (!tflops) unsupported("{} on {}, because it has no such rate", name(precision), chip_.name);
    return *tflops * 1e12 * cores_ / chip_.cores;
  }
  double host_bandwidth() const override {
    return chip_.host_link_each_way * 1e9 * cores_ / chip_.cores;
  }
  double launch() const override { return chip_.core.launch.host_asynchronous * 1e-9; }

 protected:
  double time(const Matmul& m, Precision precision) override {
    Matmul part = m;  // of one core
    if (cores_ > 1 && part.count >= cores_)
      part.count = pieces(part.count, cores_);
    else if (cores_ > 1)
      (part.m >= part.n ? part.m : part.n) = pieces(std::max(part.m, part.n), cores_);
    return std::min(one_way(part.m, part.k, part.n, part.count, precision),
                    one_way(part.n, part.k, part.m, part.count, precision)) /
           efficiency_;
  }

  double time(const Pass& p, Precision precision) override {
    const PassBlock block{std::lround(p.bytes_in * kPassColumns),
                          std::lround(p.bytes_out * kPassColumns), p.arithmetic, p.functions};
    const Steady& steady = remembered(passes_, {block, precision},
                                      [&] { return clock_pass(chip_, block, precision); });
    const double blocks = p.elements / (128.0 * kPassColumns * cores_);
    return (steady.first + steady.block * blocks) / efficiency_;
  }

  double flash(const AttentionWork& w, bool backward, Precision precision) override {
    const FlashBlock block{w.head_dim, w.value_dim, backward};
    const Steady& steady = remembered(flashes_, {block, precision},
                                      [&] { return clock_flash(chip_, block, precision); });
    const double tiles = static_cast<double>(pieces(w.queries, 128) * pieces(w.keys, 512));
    const double shared = std::max(w.share(), 1.0 / static_cast<double>(pieces(w.keys, 512)));
    return (steady.first + steady.block * tiles * shared * static_cast<double>(w.count) / cores_) /
           efficiency_;
  }

 private:
  template <class Block, class Fn>
  const Steady& remembered(std::map<std::pair<Block, Precision>, Steady>& known,
                           std::pair<Block, Precision> key, Fn clock) {
    const auto it = known.find(key);
    if (it != known.end()) return it->second;
    return known.emplace(key, clock()).first->second;
  }

  double one_way(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t count,
                 Precision precision) {
    const Cut rows = cut(m, 128), depth = cut(k, 128), columns = cut(n, 512);
    const std::int64_t widest = std::max(rows.size, columns.size);
    const std::int64_t pack =
        depth.count == 1
            ? std::clamp<std::int64_t>(kBlock / widest, 1, std::min<std::int64_t>(count, 8))
            : 1;
    const MatmulBlock block{rows.size, depth.size, columns.size,
                            std::min<std::int64_t>(depth.count, 8), pack};
    const Steady& steady = remembered(matmuls_, {block, precision},
                                      [&] { return clock_matmul(chip_, block, precision); });
    const double blocks = static_cast<double>(rows.count * depth.count * columns.count) *
                          static_cast<double>(count) / static_cast<double>(pack);
    return steady.first + steady.block * blocks;
  }

  catalog::Chip chip_;
  int cores_;
  double efficiency_;
  std::map<std::pair<MatmulBlock, Precision>, Steady> matmuls_;
  std::map<std::pair<PassBlock, Precision>, Steady> passes_;
  std::map<std::pair<FlashBlock, Precision>, Steady> flashes_;
};

}  // namespace

std::unique_ptr<Device> neuron_device(const catalog::Chip& chip, int logical_core_size,
                                      double efficiency) {
  return std::make_unique<NeuronDevice>(chip, logical_core_size, efficiency);
}

}  // namespace trnsim::fleet
