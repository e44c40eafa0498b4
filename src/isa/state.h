// What instructions act upon: the memories, and the few registers that live inside the engines.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "isa/random_lanes.h"
#include "memory/memory.h"
#include "numerics/random.h"

namespace trnsim::isa {

struct CoreState {
  CoreState(memory::Memory& memory_in, int generation_in, std::uint64_t seed)
      : memory(memory_in),
        generation(generation_in),
        vector_random(RandomLanes::of_vector(generation_in, seed)),
        gpsimd_random(RandomLanes::of_gpsimd(seed)) {}

  memory::Memory& memory;
  int generation;
  // fp32 accumulators, one per partition: the Scalar Engine's and the Vector Engine's.
  std::array<float, memory::kPartitionsMax> scalar_accumulator{};
  std::array<float, memory::kPartitionsMax> vector_accumulator{};
  // They keep their state from instruction to instruction, for the whole launch.
  RandomLanes vector_random;
  RandomLanes gpsimd_random;
  // Set when results narrower than fp32 are to be rounded stochastically.
  numerics::StochasticRounding* stochastic = nullptr;
  // What another core sent in the exchange under way, element after element.
  std::vector<std::byte> received;
  // Set when 32-bit integers that fp32 does not hold exactly are to be refused.
  bool exact_integers = false;
  // Working space of the tile readers and writers, kept to spare allocations; one slot per operand.
  std::array<std::vector<float>, 6> scratch;
};

}  // namespace trnsim::isa
