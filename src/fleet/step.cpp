#include "fleet/step.h"

#include <algorithm>

#include "fleet/pricing.h"

namespace trnsim::fleet {
namespace {

double d(std::int64_t value) { return static_cast<double>(value); }

constexpr auto kData = static_cast<std::size_t>(Axis::kData);
constexpr auto kPipeline = static_cast<std::size_t>(Axis::kPipeline);

std::int64_t first_layer(const Layout& layout, const Model& model, std::int64_t stage) {
  return stage * (model.depth() / layout.pp) + std::min(stage, model.depth() % layout.pp);
}

bool alike(const StageContents& a, const StageContents& b) {
  return a.params.shared == b.params.shared && a.params.experts == b.params.experts &&
         a.kept == b.kept && a.embedding == b.embedding && a.head == b.head;
}

}  // namespace

void StageTime::add(const StageTime& other, double times) {
  for (std::size_t i = 0; i < compute.size(); ++i) compute[i] += times * other.compute[i];
  for (std::size_t i = 0; i < exposed.size(); ++i) exposed[i] += times * other.exposed[i];
  recompute += times * other.recompute;
  forward += times * other.forward;
  backward += times * other.backward;
}

Group group_of(Axis axis, const Layout& layout) {
  switch (axis) {
    case Axis::kTensor:
      return {layout.tp, 1};
    case Axis::kContext:
      return {layout.cp, layout.tp};
    case Axis::kExpert:
      return {layout.ep, layout.tp};
    case Axis::kData:
      return {layout.dp, layout.tp * layout.cp};
    case Axis::kPipeline:
      return {layout.pp, layout.tp * layout.cp * layout.dp};
  }
  return {};
}

Evaluator::Evaluator(const Model& model, const Machine& machine)
    : model_(model), machine_(machine) {
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const auto it = std::find_if(kinds_.begin(), kinds_.end(),
                                 [&](const Layer* kind) { return *kind == model.layers[i]; });
    const auto kind = static_cast<std::size_t>(it - kinds_.begin());
    if (it == kinds_.end()) {
      kinds_.push_back(&model.layers[i]);
      before_.emplace_back(i + 1, 0);
    }
    for (std::size_t k = 0; k < kinds_.size(); ++k)
      before_[k].push_back(before_[k].back() + (k == kind ? 1 : 0));
  }
}

std::int64_t Evaluator::count(std::size_t kind, std::int64_t first, std::int64_t layers) const {
  return before_[kind][static_cast<std::size_t>(first + layers)] -
         before_[kind][static_cast<std::size_t>(first)];
}

Evaluator::LayerCost Evaluator::priced(const Work& work, const Layout& layout,
                                       bool recomputed) const {
  const double kept = recomputed ? kept_by(work, layout) : work.kept;
  return {time_of(work, layout, machine_, recomputed), kept, work.kept - kept, {}};
}

const Evaluator::Costs& Evaluator::costs(const Layout& layout) {
  const std::int64_t kinds = static_cast<int>(layout.recompute) +
                             4 * static_cast<int>(layout.precision) +
                             16 * static_cast<int>(layout.attention) + 64 * (layout.sp ? 1 : 0);
  const std::array<std::int64_t, 6> key{layout.tp,          layout.cp,       layout.ep,
                                        layout.micro_batch, layout.sequence, kinds};
  const auto it = known_.find(key);
  if (it != known_.end()) return it->second;
  Costs all;
  Layout whole = layout;
  whole.tp = whole.cp = whole.ep = whole.pp = whole.dp = whole.micro_batch = 1;
  whole.sp = false;
  const auto add_flops = [&](const Work& work, double times) {
    all.flops += times * work.flops();
    for (const AttentionWork& core : work.attention) all.attention_flops += times * core.flops();
  };
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    LayerCost cost = priced(layer_work(model_, *kinds_[k], layout), layout, true);
    cost.params = held(*kinds_[k], model_, layout);
    all.kinds.push_back(cost);
    add_flops(layer_work(model_, *kinds_[k], whole), d(before_[k].back()));
  }
  for (const Layer& layer : model_.encoder) {
    const LayerCost cost = priced(layer_work(model_, layer, layout), layout, true);
    const Held params = held(layer, model_, layout);
    all.encoder.time.add(cost.time, 1);
    all.encoder.kept += cost.kept;
    all.encoder.params.shared += params.shared;
    add_flops(layer_work(model_, layer, whole), 1);
  }
  all.embedding = priced(embedding_work(model_, layout), layout, false);
  all.head = priced(head_work(model_, layout), layout, false);
  add_flops(embedding_work(model_, whole), 1);
  add_flops(head_work(model_, whole), 1);
  return known_.emplace(key, std::move(all)).first->second;
}

StageRun Evaluator::stage(const Layout& layout, const Costs& costs, std::int64_t stage) const {
  StageRun run;
  run.first = run.contents.stage = stage;
  StageContents& contents = run.contents;
  contents.params = held_outside_layers(model_, layout, stage);
  const std::int64_t first = first_layer(layout, model_, stage);
  const std::int64_t layers = layers_on(layout, model_, stage);
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    const double n = d(count(k, first, layers));
    if (n == 0) continue;
    const LayerCost& cost = costs.kinds[k];
    run.time.add(cost.time, n);
    contents.params.shared += n * cost.params.shared;
    contents.params.experts += n * cost.params.experts;
    contents.kept += n * cost.kept;
    contents.dropped = std::max(contents.dropped, cost.dropped);
    contents.widest = std::max(contents.widest, cost.params.shared + cost.params.experts);
  }
  if (stage == 0) {
    run.time.add(costs.embedding.time, 1);
    run.time.add(costs.encoder.time, 1);
    contents.kept += costs.encoder.kept;
    contents.embedding = costs.embedding.kept;
    contents.params.shared += costs.encoder.params.shared;
  }
  if (stage == layout.pp - 1) {
    run.time.add(costs.head.time, 1);
    contents.head = costs.head.kept;
  }
  return run;
}

std::vector<StageRun> Evaluator::stages(const Layout& layout) {
  const Costs& known = costs(layout);
  const double handed = hand_over(model_, layout, machine_);
  std::vector<StageRun> runs;
  for (std::int64_t s = 0; s < layout.pp; ++s) {
    StageRun run = stage(layout, known, s);
    if (!runs.empty() && alike(runs.back().contents, run.contents)) {
      ++runs.back().count;
      continue;
    }
    const double gathered =
        gathered_weights(layout, machine_, run.contents.params, run.time.total());
    run.time.exposed[kPipeline] += handed;
    run.time.exposed[kData] += gathered;
    run.time.forward += handed / 2;
    run.time.backward += handed / 2 + gathered;
    // Gradients of layers that are done are reduced while the last micro-batch goes backwards.
    const Synchronisation sync = synchronise(layout, machine_, run.contents.params);
    run.synchronise = std::max(0.0, sync.gradients - run.time.backward) + sync.weights;
    run.optimizer = optimizer_time(layout, machine_, run.contents.params);
    runs.push_back(run);
  }
  return runs;
}

Step Evaluator::step(const Layout& layout) {
  Step step;
  const std::vector<StageRun> runs = stages(layout);
  const StageRun *slowest = &runs.front(), *latest = &runs.front();
  double all = 0;
  for (const StageRun& run : runs) {
    all += d(run.count) * run.time.total();
    if (run.time.total() > slowest->time.total()) slowest = &run;
    if (run.synchronise + run.optimizer > latest->synchronise + latest->optimizer) latest = &run;
    // Of equal stages the first has most micro-batches in flight.
    const Memory memory =
        memory_of(run.contents, model_, layout, machine_.device->reserved_bytes());
    if (memory.total() > step.memory.total()) {
      step.memory = memory;
      step.fullest_stage = run.first;
    }
  }
  const double batches = d(layout.micro_batches());
  const StageTime& time = slowest->time;
  for (std::size_t i = 0; i < step.compute.size(); ++i) step.compute[i] = batches * time.compute[i];
  for (std::size_t i = 0; i < step.exposed.size(); ++i) step.exposed[i] = batches * time.exposed[i];
  step.exposed[kData] += latest->synchronise;
  step.recompute = batches * time.recompute;
  step.bubble = (all - time.total()) / d(layout.chunks);
  step.optimizer = latest->optimizer;
  // Tokens come while the device computes; what the host adds is one launch per micro-batch.
  step.input = batches * machine_.device->launch();
  step.seconds =
      batches * time.total() + step.bubble + latest->synchronise + step.optimizer + step.input;

  const Costs& known = costs(layout);
  step.model_flops = 3 * known.flops * d(layout.global_batch);
  step.hardware_flops = step.model_flops;
  if (layout.recompute == Recompute::kFull) step.hardware_flops += step.model_flops / 3;
  if (layout.recompute == Recompute::kSelective)
    step.hardware_flops += known.attention_flops * d(layout.global_batch);
  const double peak = machine_.device->peak(layout.precision) * d(layout.ranks());
  step.mfu = step.model_flops / step.seconds / peak;
  step.hfu = step.hardware_flops / step.seconds / peak;
  return step;
}

}  // namespace trnsim::fleet
