// The pseudo random number generators inside an engine: one lane per partition, seeded once and
// carried on from instruction to instruction. Documented: GpSimd has an xorwow per lane; the Vector
// Engine an LFSR up to NeuronCore-v3, then four xorwow that deliver together. Not public and chosen
// here: how a seed fills the lanes, and that element i of a partition takes the word of xorwow i
// % 4.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "numerics/random.h"

namespace trnsim::isa {

class RandomLanes {
 public:
  static RandomLanes of_vector(int generation, std::uint64_t seed);
  static RandomLanes of_gpsimd(std::uint64_t seed);

  // Every lane anew, each with a stream of its own.
  void seed(std::uint64_t seed);
  // The next words of a lane.
  void draw(int lane, std::span<std::uint32_t> words);

  // The xorwow states of a lane, one after another; 0 words where the lanes are LFSRs.
  int state_words() const { return per_lane_ * kXorwowWords; }
  std::vector<std::uint32_t> state(int lane) const;
  void set_state(int lane, std::span<const std::uint32_t> words);

 private:
  static constexpr int kXorwowWords = 6;
  RandomLanes(int xorwows_per_lane, std::uint64_t seed_in) : per_lane_(xorwows_per_lane) {
    seed(seed_in);
  }

  int per_lane_;
  std::vector<numerics::Xorwow> xorwows_;  // lane after lane
  std::vector<numerics::Lfsr> lfsrs_;
};

}  // namespace trnsim::isa
