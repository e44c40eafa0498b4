#include "numerics/random.h"

namespace trnsim::numerics {

namespace {

std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15u;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

Xorwow::Xorwow(std::uint64_t seed) : state_{} {
  for (std::size_t i = 0; i < 6; i += 2) {
    const std::uint64_t word = splitmix64(seed);
    state_[i] = static_cast<std::uint32_t>(word);
    state_[i + 1] = static_cast<std::uint32_t>(word >> 32);
  }
}

}  // namespace trnsim::numerics
