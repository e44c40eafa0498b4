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

constexpr std::uint32_t kLfsrTaps = 0x80200003u;

// The steps are linear over bits: those of a state are the exclusive or of those of its bytes.
constexpr auto kLeap = [] {
  std::array<std::array<std::uint32_t, 256>, 4> table{};
  for (std::uint32_t byte = 0; byte < 4; ++byte) {
    for (std::uint32_t value = 0; value < 256; ++value) {
      std::uint32_t state = value << (8 * byte);
      for (int step = 0; step < 32; ++step) state = (state >> 1) ^ ((state & 1) * kLfsrTaps);
      table[byte][value] = state;
    }
  }
  return table;
}();

}  // namespace

std::uint32_t Lfsr::next() {
  state_ = kLeap[0][state_ & 255] ^ kLeap[1][state_ >> 8 & 255] ^ kLeap[2][state_ >> 16 & 255] ^
           kLeap[3][state_ >> 24];
  return state_;
}

Xorwow::Xorwow(std::uint64_t seed) : state_{} {
  for (std::size_t i = 0; i < 6; i += 2) {
    const std::uint64_t word = splitmix64(seed);
    state_[i] = static_cast<std::uint32_t>(word);
    state_[i + 1] = static_cast<std::uint32_t>(word >> 32);
  }
}

}  // namespace trnsim::numerics
