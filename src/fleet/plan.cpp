#include "fleet/plan.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "fleet/presets.h"

namespace trnsim::fleet {
namespace {

void check_fits(const Model& model, const Machine& machine, const Layout& layout) {
  const ParameterBytes bytes = parameter_bytes(layout);
  const double needed = static_cast<double>(parameters(model).total()) *
                        (bytes.weights + bytes.gradients + bytes.states);
  const double there = machine.device->memory_bytes() * static_cast<double>(machine.ranks());
  if (needed <= there) return;
  const double per_accelerator = machine.device->memory_bytes() * machine.ranks_per_accelerator;
  config_error(
      "{} needs {:.1f} GiB for weights, gradients and optimiser alone, and all of {} has {:.1f}; "
      "at least {:.0f} {} hold it",
      model.name, needed / (1 << 30), machine.name, there / (1 << 30),
      std::ceil(needed / per_accelerator), machine.title);
}

}  // namespace

Goodput goodput_of(const Model& model, const Machine& machine,
                   std::optional<double> interval_seconds) {
  Goodput g;
  const auto accelerators = static_cast<double>(machine.accelerators);
  g.checkpoint_bytes = 14 * static_cast<double>(parameters(model).total());  // weights and states
  g.checkpoint_seconds = g.checkpoint_bytes / (machine.storage * accelerators);
  g.failure_seconds = machine.training.interruption * 3600 / accelerators;
  g.restart_seconds = machine.training.restart * 60;
  g.interval_seconds =
      interval_seconds.value_or(std::sqrt(2 * g.checkpoint_seconds * g.failure_seconds));
  g.interval_seconds = std::max(g.interval_seconds, g.checkpoint_seconds);
  const double lost = g.interval_seconds / 2 + g.restart_seconds;
  g.share = 1 / ((1 + g.checkpoint_seconds / g.interval_seconds) * (1 + lost / g.failure_seconds));
  return g;
}

std::optional<double> Plan::usd() const {
  if (!price) return {};
  return hours() * price->usd * static_cast<double>(machine.accelerators);
}

std::optional<double> Plan::kwh() const {
  if (!machine.power) return {};
  return hours() * *machine.power * 1e-3 * static_cast<double>(machine.accelerators) *
         machine.facility;
}

Folders folders_beside(const std::filesystem::path& hardware) {
  return {hardware, std::filesystem::weakly_canonical(hardware).parent_path() / "models"};
}

Plan make_plan(const Request& request, const Folders& folders, bool look_for_more,
               const std::function<void(std::int64_t)>& progress) {
  Plan plan;
  plan.request = request;
  plan.model = find_model(request.model, folders.models);
  plan.machine = find_machine(request.on, catalog::load(folders.hardware));
  Evaluator evaluator(plan.model, plan.machine);
  std::optional<Layout> layout;
  if (!look_for_more) layout = given_layout(request, plan.model, plan.machine);
  if (layout) {
    plan.layout = *layout;
  } else {
    Layout any;
    any.precision = request.precision;
    any.states = request.states;
    check_fits(plan.model, plan.machine, any);
    plan.search = search(request, evaluator, progress);
    plan.layout =
        plan.search->best.empty() ? plan.search->smallest.layout : plan.search->best.front().layout;
  }
  plan.step = evaluator.step(plan.layout);
  if (request.stragglers || request.jitter) {
    Stragglers slow{request.stragglers.value_or(0), request.straggler_slowdown.value_or(1.2),
                    request.jitter.value_or(0)};
    plan.events = event_step(evaluator, plan.layout, slow);
  }
  plan.tokens_per_second =
      plan.layout.tokens_per_step() / (plan.events ? plan.events->seconds : plan.step.seconds);
  std::optional<double> interval;
  if (request.checkpoint_minutes) interval = *request.checkpoint_minutes * 60;
  plan.goodput = goodput_of(plan.model, plan.machine, interval);
  try {
    plan.price = price_of(plan.machine, request.price);
  } catch (const Error& error) {
    if (!request.price.empty()) throw;
    plan.no_price = error.message();
  }
  return plan;
}

}  // namespace trnsim::fleet
