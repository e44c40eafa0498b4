// One training step: where its time goes, and what it needs of memory. The parts of the time add
// up to the whole.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "fleet/machine.h"
#include "fleet/memory.h"

namespace trnsim::fleet {

inline constexpr int kAxisCount = 5;

// Seconds of one micro-batch.
struct StageTime {
  std::array<double, kPartCount> compute{};  // forward and backward
  double recompute = 0;
  std::array<double, kAxisCount> exposed{};  // transfers that nothing hides
  double forward = 0, backward = 0;          // sums of the above
  double total() const { return forward + backward; }
  void add(const StageTime& other, double times);
};

struct Step {
  // Of the stage that takes longest, all its micro-batches.
  std::array<double, kPartCount> compute{};
  double recompute = 0;
  std::array<double, kAxisCount> exposed{};
  double bubble = 0, optimizer = 0, input = 0;
  double seconds = 0;
  double model_flops = 0, hardware_flops = 0;  // of all ranks
  double mfu = 0, hfu = 0;
  Memory memory;
  std::int64_t fullest_stage = 0;
};

// Ranks of each kind of group, by the order in which ranks are numbered.
Group group_of(Axis axis, const Layout& layout);

// A run of stages that hold and do the same.
struct StageRun {
  std::int64_t first = 0, count = 1;
  StageTime time;  // with what it hands over
  StageContents contents;
  double synchronise = 0, optimizer = 0;  // once per step, not hidden
};

// Steps of one model on one machine. What a layer costs depends on few of a layout's numbers and is
// remembered, so that a search pays for each combination of those once.
class Evaluator {
 public:
  Evaluator(const Model& model, const Machine& machine);

  // The layout must be legal (check_layout).
  Step step(const Layout& layout);
  std::vector<StageRun> stages(const Layout& layout);
  const Model& model() const { return model_; }
  const Machine& machine() const { return machine_; }

 private:
  struct LayerCost {
    StageTime time;
    double kept = 0, dropped = 0;
    Held params;
  };
  struct Costs {
    std::vector<LayerCost> kinds;  // as kinds_
    LayerCost embedding, head, encoder;
    double head_bytes = 0;
    double flops = 0, attention_flops = 0;  // of one sequence, forward
  };
  const Costs& costs(const Layout& layout);
  LayerCost priced(const Work& work, const Layout& layout, bool recomputed) const;
  StageRun stage(const Layout& layout, const Costs& costs, std::int64_t stage) const;
  // Layers of each kind on a stage.
  std::int64_t count(std::size_t kind, std::int64_t first, std::int64_t layers) const;

  const Model& model_;
  const Machine& machine_;
  std::vector<const Layer*> kinds_;
  std::vector<std::vector<std::int32_t>> before_;  // by kind: how many among the first i layers
  std::map<std::array<std::int64_t, 6>, Costs> known_;
};

}  // namespace trnsim::fleet
