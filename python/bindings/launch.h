// One launch of a kernel: the cores that run it, the tensors it is given, and the profile that is
// left when it ends.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/chip.h"
#include "core/logical_core.h"
#include "program/loop_nesting.h"
#include "sites.h"
#include "tensor.h"
#include "timing/clock.h"

namespace trnsim::python {

class Launch;

// One core of a launch, and the lines of the kernel that it has come by.
class RunningCore {
 public:
  RunningCore(Launch& launch, int rank);

  Launch& launch() { return launch_; }
  const Launch& launch() const { return launch_; }
  int rank() const { return rank_; }
  core::NeuronCore& core() const { return core_; }
  Sites& sites() { return sites_; }

  // Tells this core's instructions from those of other cores and launches, also after its end.
  std::uint64_t number() const { return number_; }
  void depend(std::uint32_t consumer, std::uint32_t producer);
  // Of two names, each instruction that has the first waits for the nearest one before it that has
  // the second. Throws ProgramError where there is none.
  void depend_by_name(const std::string& consumer, const std::string& producer);
  // Around what a loop of the hardware repeats.
  void enter_loop() { loops_.enter(core_.program().size()); }
  void leave_loop() { loops_.leave(core_.program().size()); }
  const program::LoopNesting& loops() const { return loops_; }

  // Calls `stop` just before the instruction with this index.
  void break_at(std::uint64_t index, nanobind::callable stop) {
    break_at_ = index;
    stop_ = std::move(stop);
  }
  void break_if_asked() {
    if (core_.program().size() != break_at_) return;
    break_at_ = kNever;
    stop_();
  }

 private:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static inline std::uint64_t cores_so_far_ = 0;

  Launch& launch_;
  int rank_;
  core::NeuronCore& core_;
  Sites sites_;
  program::LoopNesting loops_;
  std::uint64_t number_ = ++cores_so_far_;
  std::uint64_t break_at_ = kNever;
  nanobind::callable stop_;
};

class Launch {
 public:
  Launch(std::shared_ptr<const catalog::Chip> chip, std::string kernel, int cores,
         const core::Options& options, const std::string& schedule = {});

  const catalog::Chip& chip() const { return *chip_; }
  const std::shared_ptr<const catalog::Chip>& spec() const { return chip_; }
  const std::string& kernel() const { return kernel_; }
  core::LogicalCore& cores() { return cores_; }
  const core::LogicalCore& cores() const { return cores_; }
  RunningCore& running(int rank) { return *running_.at(rank); }
  std::size_t instruction_count() const;

  // Clocks what the cores have recorded so far; again only when more has been recorded since. In
  // the order of the cores.
  const std::vector<timing::Timeline>& timelines();
  void forget_timelines() { timelines_.clear(); }
  std::vector<program::Program*> programs();
  const std::optional<timing::Scheduling>& scheduling() const { return scheduling_; }
  // What was clocked together with other ranks.
  void adopt(std::vector<timing::Timeline> timelines) {
    timelines_ = std::move(timelines);
    clocked_ = instruction_count();
  }
  int first_core = 0;  // this rank's cores among those that reports list together

 private:
  std::shared_ptr<const catalog::Chip> chip_;
  std::string kernel_;
  std::optional<timing::Scheduling> scheduling_;
  core::LogicalCore cores_;
  std::vector<std::unique_ptr<RunningCore>> running_;
  std::size_t clocked_ = 0;  // instructions that timelines_ is about
  std::vector<timing::Timeline> timelines_;
};

// The core that instructions of this thread go to; nullptr outside a kernel.
RunningCore* running_core();

void bind_launch(nanobind::module_& m);
void bind_catalog(nanobind::module_& m);
void bind_calls(nanobind::module_& m);
void bind_profile(nanobind::module_& m);
void bind_fabric(nanobind::module_& m);
void bind_command(nanobind::module_& m);
void bind_fleet(nanobind::module_& m);

}  // namespace trnsim::python
