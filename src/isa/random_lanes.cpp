#include "isa/random_lanes.h"

#include <algorithm>

#include "memory/access_pattern.h"

namespace trnsim::isa {
namespace {

constexpr int kVectorXorwows = 4;
constexpr int kXorwowSince = 4;  // generation of the Vector Engine

// Seeds of 32 bits give every generator of every lane a number of its own.
std::uint64_t stream_of(std::uint64_t seed, int generator) {
  return seed ^ static_cast<std::uint64_t>(generator) << 48;
}

}  // namespace

RandomLanes RandomLanes::of_vector(int generation, std::uint64_t seed) {
  return {generation >= kXorwowSince ? kVectorXorwows : 0, seed};
}

// The complement keeps the two engines' streams apart.
RandomLanes RandomLanes::of_gpsimd(std::uint64_t seed) { return {1, ~seed}; }

void RandomLanes::seed(std::uint64_t seed) {
  xorwows_.clear();
  lfsrs_.clear();
  for (int i = 0; i < memory::kPartitionsMax * per_lane_; ++i)
    xorwows_.emplace_back(stream_of(seed, i));
  if (per_lane_ != 0) return;
  for (int lane = 0; lane < memory::kPartitionsMax; ++lane)
    lfsrs_.emplace_back(numerics::Xorwow(stream_of(seed, lane)).next());
}

void RandomLanes::draw(int lane, std::span<std::uint32_t> words) {
  if (per_lane_ == 0) {
    numerics::Lfsr lfsr = lfsrs_[lane];  // a copy that the words cannot alias
    for (std::uint32_t& word : words) word = lfsr.next();
    lfsrs_[lane] = lfsr;
    return;
  }
  numerics::Xorwow* lane_states = xorwows_.data() + lane * per_lane_;
  for (int k = 0; k < per_lane_; ++k) {
    numerics::Xorwow generator = lane_states[k];
    for (std::size_t i = k; i < words.size(); i += per_lane_) words[i] = generator.next();
    lane_states[k] = generator;
  }
}

std::vector<std::uint32_t> RandomLanes::state(int lane) const {
  std::vector<std::uint32_t> words;
  for (int k = 0; k < per_lane_; ++k) {
    const numerics::Xorwow::State& state = xorwows_[lane * per_lane_ + k].state();
    words.insert(words.end(), state.begin(), state.end());
  }
  return words;
}

void RandomLanes::set_state(int lane, std::span<const std::uint32_t> words) {
  for (int k = 0; k < per_lane_; ++k) {
    numerics::Xorwow::State state;
    std::copy_n(words.begin() + k * kXorwowWords, kXorwowWords, state.begin());
    xorwows_[lane * per_lane_ + k] = numerics::Xorwow(state);
  }
}

}  // namespace trnsim::isa
