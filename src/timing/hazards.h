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
  // `kept`, where given, takes the orders within a queue that the dependencies rely on. `queues`:
  // of each instruction, where it is not the one that the program says.
  explicit Dependencies(const program::Program& program, KeptOrders* kept = nullptr,
                        std::vector<Queue> queues = {});

  std::span<const Dependency> of(std::size_t instruction) const {
    return {list_.data() + first_[instruction], list_.data() + first_[instruction + 1]};
  }
  // Of each instruction that is left out another one's result takes the place, as stand_ins() of
  // liberties.h says: who reads it waits for that one, and who writes over it for what it would
  // have waited for.
  void leave_out(std::span<const std::uint32_t> stand_ins);
  Queue queue(std::size_t instruction) const { return queues_[instruction]; }

 private:
  std::vector<Dependency> list_;
  std::vector<std::uint64_t> first_;
  std::vector<Queue> queues_;
};

}  // namespace trnsim::timing
