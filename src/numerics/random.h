// The seeded generators of the simulator. Xorwow (Marsaglia, "Xorshift RNGs", 2003), the
// generator that the NeuronCore documentation names, and the random stream that stochastic rounding
// draws from. Not public and therefore chosen here: the order of the six words in memory (x y z w v
// d) and how a 32-bit seed fills them (splitmix64, so that near seeds give unrelated streams).
#pragma once

#include <array>
#include <cstdint>

namespace trnsim::numerics {

class Xorwow {
 public:
  using State = std::array<std::uint32_t, 6>;  // x, y, z, w, v, d

  explicit Xorwow(std::uint64_t seed);
  explicit Xorwow(const State& state) : state_(state) {}

  std::uint32_t next() {
    auto& [x, y, z, w, v, d] = state_;
    const std::uint32_t t = x ^ (x >> 2);
    x = y;
    y = z;
    z = w;
    w = v;
    v = (v ^ (v << 4)) ^ (t ^ (t << 1));
    d += 362437;
    return v + d;
  }

  const State& state() const { return state_; }

 private:
  State state_;
};

// A linear feedback shift register of 32 bits with the taps that Xilinx XAPP052 lists for the
// longest period (32, 22, 2, 1), in Galois form. The documentation says no more of the Vector
// Engine's generator up to NeuronCore-v3 than that it is an LFSR. A word is the state after 32
// steps, so that no two words share shifted bits.
class Lfsr {
 public:
  explicit Lfsr(std::uint32_t state) : state_(state == 0 ? 1 : state) {}  // 0 would stay 0
  std::uint32_t next();

 private:
  std::uint32_t state_;
};

// 24 random bits as a float in [0, 1): every result is exact and 1.0 cannot occur.
inline float unit_float(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

class StochasticRounding {
 public:
  explicit StochasticRounding(std::uint64_t seed) : generator_(seed) {}
  std::uint32_t next() { return generator_.next(); }

 private:
  Xorwow generator_;
};

}  // namespace trnsim::numerics
