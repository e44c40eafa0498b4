// The physical cores that run one launch side by side: each with its own SBUF, PSUM, registers and
// program, all with one HBM address space. Here they meet at barriers and exchanges, and here it is
// noticed when they never will, or when two of them use shared HBM without having met.
//
// One core runs at a time. Whoever feeds the cores gives each a thread of control of its own and a
// way to wait; between two meetings the cores run one after the other, lowest rank first.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/neuron_core.h"
#include "core/races.h"

namespace trnsim::core {

class LogicalCore {
 public:
  // The cores draw from streams of random numbers of their own: core i has the seed plus i.
  LogicalCore(const catalog::Core& spec, const Options& options, int cores);
  LogicalCore(const LogicalCore&) = delete;
  ~LogicalCore();

  int size() const { return static_cast<int>(cores_.size()); }
  NeuronCore& operator[](int rank) { return *cores_[rank]; }
  const NeuronCore& operator[](int rank) const { return *cores_[rank]; }

  // Called in the thread of core `rank` when it has come to a meeting. `complete`: it was the last
  // one, and all may go on. Returns when it is the core's turn again; if the meeting is not
  // complete by then, it never will be.
  std::function<void(int rank, bool complete)> wait;

  // The program of this core is over. Throws where its last writes race with another core's, and
  // where it needed more memory than there is.
  void end(int rank);

  // While false, accesses of a core are left out of the search for races: values that a tensor is
  // created with.
  void watch_races(int rank, bool watch) { watched_[rank] = watch; }

 private:
  friend class NeuronCore;

  // Around an instruction of a core: before it is carried out, and when it has been recorded.
  void before(int rank, const isa::InstructionType& type, const void* args, std::uint32_t site);
  void after(int rank, const isa::InstructionType& type, const void* args) {
    if (watched_[rank]) races_.record(rank, type, args);
  }
  void meet(int rank, const isa::InstructionType& type, const isa::Meeting& meeting,
            std::uint32_t site);
  void complete();

  struct Arrival {
    std::string_view instruction;
    isa::Meeting meeting;
    std::uint32_t site;
  };
  void require_match(int rank, int other) const;
  std::string place_of(int rank) const;  // where a core waits, or that it has ended
  [[noreturn]] void deadlock() const;

  std::vector<std::unique_ptr<NeuronCore>> cores_;
  std::vector<std::optional<Arrival>> waiting_;
  std::vector<bool> ended_, watched_;
  std::int64_t meetings_ = 0;  // completed
  Races races_;
};

}  // namespace trnsim::core
