#include "fleet/pricing.h"

#include <algorithm>

namespace trnsim::fleet {
namespace {

double d(std::int64_t value) { return static_cast<double>(value); }

// Adds up what works cost on one rank.
class Pricing {
 public:
  Pricing(const Layout& layout, const Machine& machine) : layout_(layout), machine_(machine) {}

  StageTime of(const Work& work, bool recomputed) {
    StageTime t;
    Device& device = *machine_.device;
    const Precision precision = layout_.precision;
    for (const Matmul& m : work.matmuls) {
      const auto part = static_cast<std::size_t>(m.part);
      const double forward = device.matmul(m, precision);
      // The gradient of the input and that of the weights.
      const double backward = device.matmul({m.m, m.n, m.k, m.count, m.part}, precision) +
                              device.matmul({m.k, m.m, m.n, m.count, m.part}, precision);
      t.compute[part] += forward + backward;
      t.forward += forward;
      t.backward += backward;
    }
    for (const Pass& p : work.forward) {
      const double seconds = device.pass(p, precision);
      t.compute[static_cast<std::size_t>(p.part)] += seconds;
      t.forward += seconds;
    }
    for (const Pass& p : work.backward) {
      const double seconds = device.pass(p, precision);
      t.compute[static_cast<std::size_t>(p.part)] += seconds;
      t.backward += seconds;
    }
    double core_forward = 0;
    for (const AttentionWork& core : work.attention) {
      const double forward = device.attention(core, layout_, false);
      const double backward = device.attention(core, layout_, true);
      t.compute[static_cast<std::size_t>(Part::kAttention)] += forward + backward;
      t.forward += forward;
      t.backward += backward;
      core_forward += forward;
    }
    double transfers = 0;
    for (const Communication& c : work.forward_transfers) {
      const double seconds = exposed(c, core_forward);
      t.exposed[static_cast<std::size_t>(c.axis)] += seconds;
      transfers += seconds;
    }
    const double forward_compute = t.forward;
    t.forward += transfers;
    for (const Communication& c : work.backward_transfers) {
      const double seconds = exposed(c, 2.5 * core_forward);
      t.exposed[static_cast<std::size_t>(c.axis)] += seconds;
      t.backward += seconds;
    }
    if (recomputed && layout_.recompute == Recompute::kFull) {
      t.recompute = forward_compute;
      for (const Communication& c : work.forward_transfers)
        t.exposed[static_cast<std::size_t>(c.axis)] += exposed(c, core_forward);
      t.backward += forward_compute + transfers;
    } else if (recomputed && layout_.recompute == Recompute::kSelective) {
      t.recompute = core_forward;
      t.backward += core_forward;
    }
    return t;
  }

 private:
  // Rings of context parallelism go on while attention is computed; the rest is waited for.
  double exposed(const Communication& c, double attention) const {
    const double seconds =
        machine_.collectives->time(c.transfer, c.bytes, group_of(c.axis, layout_));
    return c.axis == Axis::kContext ? std::max(0.0, seconds - attention) : seconds;
  }

  const Layout& layout_;
  const Machine& machine_;
};

}  // namespace

StageTime time_of(const Work& work, const Layout& layout, const Machine& machine, bool recomputed) {
  return Pricing(layout, machine).of(work, recomputed);
}

double hand_over(const Model& model, const Layout& layout, const Machine& machine) {
  if (layout.pp == 1) return 0;
  const double width = tensor_bytes(layout.precision);
  // Tensor-parallel ranks send a part each.
  const double bytes = d(layout.tokens()) * d(model.hidden) * width / d(layout.tp);
  return 2 * machine.collectives->send(bytes, group_of(Axis::kPipeline, layout).stride) *
         d(layout.chunks);
}

Synchronisation synchronise(const Layout& layout, const Machine& machine, const Held& params) {
  const ParameterBytes bytes = parameter_bytes(layout);
  Synchronisation sum;
  const auto over = [&](double count, std::int64_t size, std::int64_t stride) {
    if (size <= 1 || count <= 0) return;
    const Group group{size, stride};
    const Transfer transfer = layout.zero >= 1 ? Transfer::kReduceScatter : Transfer::kAllReduce;
    sum.gradients += machine.collectives->time(transfer, count * bytes.gradients, group);
    if (layout.zero >= 1 && layout.zero < 3)
      sum.weights += machine.collectives->time(Transfer::kAllGather, count * bytes.weights, group);
  };
  over(params.shared, layout.dp * layout.cp, layout.tp);
  over(params.experts, layout.dp * layout.cp / layout.ep, layout.tp * layout.ep);
  return sum;
}

double optimizer_time(const Layout& layout, const Machine& machine, const Held& params) {
  const ParameterBytes bytes = parameter_bytes(layout);
  const double ranks = layout.zero >= 1 ? d(layout.dp * layout.cp) : 1;
  const double expert_ranks = layout.zero >= 1 ? ranks / d(layout.ep) : 1;
  const double count = params.shared / ranks + params.experts / expert_ranks;
  const Pass update{
      count, bytes.gradients + bytes.states, bytes.states + bytes.weights, 10, 1, Part::kNorms};
  return machine.device->pass(update, layout.precision);
}

double gathered_weights(const Layout& layout, const Machine& machine, const Held& params,
                        double compute) {
  if (layout.zero < 3) return 0;
  const double bytes = (params.shared + params.experts) * parameter_bytes(layout).weights;
  const double seconds = 2 * machine.collectives->time(Transfer::kAllGather, bytes,
                                                       {layout.dp * layout.cp, layout.tp});
  return std::max(0.0, seconds - compute);
}

}  // namespace trnsim::fleet
