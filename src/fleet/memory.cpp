#include "fleet/memory.h"

#include <algorithm>

namespace trnsim::fleet {
namespace {

double d(std::int64_t value) { return static_cast<double>(value); }

}  // namespace

Held held(const Layer& layer, const Model& model, const Layout& layout) {
  const Parameters p = parameters(layer, model);
  return {d(p.attention + p.dense) / d(layout.tp) + d(p.norms + p.router),
          d(p.experts) / d(layout.tp * layout.ep)};
}

Held held_outside_layers(const Model& model, const Layout& layout, std::int64_t stage) {
  const double tp = d(layout.tp);
  const double table = d(model.vocabulary * model.hidden) / tp;
  Held sum;
  if (stage == 0) {
    sum.shared += table + d((model.positions + model.types) * model.hidden) / tp;
    if (model.patch_values > 0) sum.shared += d((model.patch_values + 2) * model.hidden) / tp;
  }
  if (stage == layout.pp - 1) {
    if (!model.tied || layout.pp > 1) sum.shared += table;
    if (model.final_norm) sum.shared += d(model.hidden * (model.norm_bias ? 2 : 1));
    if (model.head_dense) sum.shared += d(model.hidden * (model.hidden + 3)) / tp;
    sum.shared += d(model.extra);
  }
  return sum;
}

double kept_by(const Work& work, const Layout& layout) {
  switch (layout.recompute) {
    case Recompute::kNone:
      return work.kept;
    case Recompute::kSelective:
      return work.kept - work.kept_scores;
    case Recompute::kFull:
      return work.input;
  }
  return work.kept;
}

double in_flight(const Layout& layout, std::int64_t stage) {
  const double batches = d(layout.micro_batches());
  switch (layout.schedule) {
    case Schedule::kGpipe:
      return batches;
    case Schedule::kInterleaved:  // 2 (p - s - 1) + (v - 1) p + 1 of its v chunks: Megatron's
                                  // warm-up
      return std::min(batches, d(layout.pp) + d(layout.pp - 1 - 2 * stage) / d(layout.chunks));
    case Schedule::k1f1b:
      break;
  }
  return std::min(batches, d(layout.pp - stage));
}

Memory memory_of(const StageContents& contents, const Model& model, const Layout& layout,
                 double reserved_bytes) {
  const ParameterBytes bytes = parameter_bytes(layout);
  const double ranks = d(layout.dp * layout.cp), expert_ranks = ranks / d(layout.ep);
  const double whole = contents.params.shared + contents.params.experts;
  const double share = contents.params.shared / ranks + contents.params.experts / expert_ranks;
  Memory memory;
  memory.weights = bytes.weights * (layout.zero >= 3 ? share : whole);
  memory.gradients = bytes.gradients * (layout.zero >= 2 ? share : whole);
  memory.states = bytes.states * (layout.zero >= 1 ? share : whole);
  memory.reserved = reserved_bytes;
  const double flying = in_flight(layout, contents.stage);
  memory.activations = contents.kept * flying;
  // What was dropped comes back for one layer at a time; the input of a block is gathered whole.
  memory.working = contents.dropped + 2 * d(layout.tokens()) * d(model.hidden) * 2 + contents.head +
                   contents.embedding * flying;
  if (layout.zero >= 3) memory.working += 2 * bytes.weights * contents.widest;
  return memory;
}

}  // namespace trnsim::fleet
