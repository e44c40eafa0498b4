// What one rank computes with: the time of an operator by its shape. Times are remembered, so that
// a search over thousands of layouts asks for each shape once.
#pragma once

#include <memory>
#include <unordered_map>

#include "catalog/catalog.h"
#include "fleet/work.h"

namespace trnsim::fleet {

class Device {
 public:
  virtual ~Device() = default;

  // Seconds, one after the other. Attention with scores in memory is two batches of products and
  // passes over the scores, the same on every device.
  double matmul(const Matmul& matmul, Precision precision);
  double pass(const Pass& pass, Precision precision);
  double attention(const AttentionWork& work, const Layout& layout, bool backward);

  virtual double memory_bytes() const = 0;
  virtual double reserved_bytes() const = 0;           // of the runtime
  virtual double peak(Precision precision) const = 0;  // FLOP/s, as published, of one rank
  virtual double host_bandwidth() const = 0;           // bytes per second
  virtual double launch() const { return 0; }  // of one micro-batch, on the host, not hidden
  std::size_t shapes() const { return matmuls_.size() + passes_.size() + cores_.size(); }

 protected:
  virtual double time(const Matmul& matmul, Precision precision) = 0;
  virtual double time(const Pass& pass, Precision precision) = 0;
  virtual double flash(const AttentionWork& work, bool backward, Precision precision) = 0;

 private:
  struct Key {
    std::int64_t a, b, c, d;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  using Known = std::unordered_map<Key, double, Hash>;
  template <class Fn>
  double remembered(Known& known, const Key& key, Fn time);

  Known matmuls_, passes_, cores_;
};

// A logical NeuronCore of a chip: operators are representative tiled kernels, recorded and given to
// the clock. With `logical_core_size` 2 both cores share an operator.
std::unique_ptr<Device> neuron_device(const catalog::Chip& chip, int logical_core_size,
                                      double efficiency);

// A GPU: roofline with tile and wave quantisation of matrix products.
std::unique_ptr<Device> gpu_device(const catalog::Gpu& gpu, double efficiency);

}  // namespace trnsim::fleet
