// Which loop of the hardware each instruction of a program stands in, while a kernel records it:
// loops are recorded round by round, and a loop that is entered again is another one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace trnsim::program {

class LoopNesting {
 public:
  // `next`: the number of the first instruction after the call.
  void enter(std::uint64_t next) {
    outer_.push_back(loop_);
    change_to(static_cast<int>(outer_.size()) - 1, next);
  }
  void leave(std::uint64_t next) { change_to(outer_[loop_], next); }

  // Whether `producer` is in the loop of `consumer`, or in one around that.
  bool in_scope(std::uint64_t producer, std::uint64_t consumer) const {
    const int wanted = loop_of(producer);
    int loop = loop_of(consumer);
    while (loop != wanted && loop != kNone) loop = outer_[loop];
    return loop == wanted;
  }

 private:
  static constexpr int kNone = 0;
  struct Change {
    std::uint64_t first;
    int loop;
  };

  void change_to(int loop, std::uint64_t next) {
    loop_ = loop;
    changes_.push_back({next, loop});
  }
  int loop_of(std::uint64_t instruction) const {
    const auto after =
        std::upper_bound(changes_.begin(), changes_.end(), instruction,
                         [](std::uint64_t number, const Change& c) { return number < c.first; });
    return (after - 1)->loop;
  }

  int loop_ = kNone;
  std::vector<int> outer_{kNone};  // by loop
  std::vector<Change> changes_{{0, kNone}};
};

}  // namespace trnsim::program
