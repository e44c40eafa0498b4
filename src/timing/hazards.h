// Which earlier instructions each instruction depends on, from the bytes that they touch. The
// compiler would turn these into semaphore waits. Time plays no part here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.h"
#include "timing/access_history.h"
#include "timing/queue.h"

namespace trnsim::timing {

class Dependencies {
 public:
  // `kept`, where given, takes the orders within a queue that the dependencies rely on.
  explicit Dependencies(const program::Program& program, KeptOrders* kept = nullptr);

  std::span<const Dependency> of(std::size_t instruction) const {
    return {list_.data() + first_[instruction], list_.data() + first_[instruction + 1]};
  }
  Queue queue(std::size_t instruction) const { return queues_[instruction]; }

 private:
  std::vector<Dependency> list_;
  std::vector<std::uint64_t> first_;
  std::vector<Queue> queues_;
};

}  // namespace trnsim::timing
