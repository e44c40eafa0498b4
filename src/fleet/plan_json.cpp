#include <nlohmann/json.hpp>

#include "fleet/plan.h"

namespace trnsim::fleet {
namespace {

using Json = nlohmann::ordered_json;

// A figure with its interval: a step may take `slower` times as long, or `faster`.
Json times(double value, const Plan& plan) {
  return {{"value", value},
          {"low", value * plan.machine.training.faster},
          {"high", value * plan.machine.training.slower}};
}
Json rates(double value, const Plan& plan) {
  return {{"value", value},
          {"low", value / plan.machine.training.slower},
          {"high", value / plan.machine.training.faster}};
}

Json layout_json(const Layout& layout) {
  return {{"tp", layout.tp},
          {"pp", layout.pp},
          {"dp", layout.dp},
          {"cp", layout.cp},
          {"ep", layout.ep},
          {"sp", layout.sp},
          {"zero", layout.zero},
          {"micro_batch", layout.micro_batch},
          {"global_batch", layout.global_batch},
          {"seq", layout.sequence},
          {"recompute", name(layout.recompute)},
          {"schedule", name(layout.schedule)},
          {"chunks", layout.chunks},
          {"dtype", name(layout.precision)},
          {"attention", name(layout.attention)},
          {"optimizer_states", name(layout.states)}};
}

Json breakdown_json(const Step& step) {
  Json compute = Json::object(), exposed = Json::object();
  for (int i = 0; i < kPartCount; ++i)
    if (const double seconds = step.compute[static_cast<std::size_t>(i)]; seconds > 0)
      compute[std::string(name(static_cast<Part>(i)))] = seconds;
  for (int i = 0; i < kAxisCount; ++i)
    if (const double seconds = step.exposed[static_cast<std::size_t>(i)]; seconds > 0)
      exposed[std::string(name(static_cast<Axis>(i)))] = seconds;
  return {{"compute", compute},    {"recompute", step.recompute}, {"communication", exposed},
          {"bubble", step.bubble}, {"optimizer", step.optimizer}, {"input", step.input}};
}

Json memory_json(const Plan& plan) {
  const Memory& m = plan.step.memory;
  const double capacity = plan.machine.device->memory_bytes();
  return {{"weights", m.weights},
          {"gradients", m.gradients},
          {"optimizer", m.states},
          {"activations", m.activations},
          {"working", m.working},
          {"reserved", m.reserved},
          {"total", m.total()},
          {"capacity", capacity},
          {"stage", plan.step.fullest_stage},
          {"fits", plan.fits()},
          {"left", capacity - m.total()}};
}

Json search_json(const Search& search) {
  Json json{{"tried", search.tried}, {"fitting", search.fitting}};
  json["best"] = Json::array();
  for (const Candidate& candidate : search.best)
    json["best"].push_back({{"layout", layout_json(candidate.layout)},
                            {"step_seconds", candidate.seconds},
                            {"tokens_per_second", candidate.tokens_per_second},
                            {"memory", candidate.memory}});
  json["losers"] = Json::array();
  for (const Loser& loser : search.losers)
    json["losers"].push_back({{"choice", loser.choice}, {"reason", loser.reason}});
  return json;
}

}  // namespace

Json plan_json(const Plan& plan) {
  const Parameters counted = parameters(plan.model);
  const Machine& machine = plan.machine;
  Json json{{"model", plan.model.name},
            {"parameters", counted.total()},
            {"active_parameters", counted.active},
            {"system", machine.name},
            {"accelerator", machine.accelerator},
            {"accelerators", machine.accelerators},
            {"ranks", machine.ranks()}};
  json["layout"] = layout_json(plan.layout);
  json["step_seconds"] = times(plan.step.seconds, plan);
  json["breakdown"] = breakdown_json(plan.step);
  if (plan.events) {
    const EventStep& e = *plan.events;
    json["events"] = {{"step_seconds", times(e.seconds, plan)},
                      {"without_stragglers_seconds", e.without_stragglers},
                      {"waiting_seconds", e.waiting},
                      {"replicas", e.replicas},
                      {"different_replicas", e.different},
                      {"events", e.events}};
  }
  json["tokens_per_second"] = rates(plan.tokens_per_second, plan);
  json["mfu"] = rates(plan.step.mfu, plan);
  json["hfu"] = rates(plan.step.hfu, plan);
  json["memory"] = memory_json(plan);
  const Goodput& g = plan.goodput;
  json["goodput"] = {{"share", g.share},
                     {"checkpoint_interval_seconds", g.interval_seconds},
                     {"checkpoint_seconds", g.checkpoint_seconds},
                     {"checkpoint_bytes", g.checkpoint_bytes},
                     {"interruption_seconds", g.failure_seconds},
                     {"restart_seconds", g.restart_seconds}};
  json["tokens"] = plan.request.tokens;
  json["hours"] = times(plan.hours(), plan);
  if (plan.price) {
    json["cost"] = {{"usd", times(*plan.usd(), plan)},
                    {"usd_per_accelerator_hour", plan.price->usd},
                    {"kind", plan.price->kind},
                    {"date", plan.price->date},
                    {"source", plan.price->source}};
  } else {
    json["cost"] = nullptr;
    json["no_cost"] = plan.no_price;
  }
  json["energy_kwh"] = plan.kwh() ? times(*plan.kwh(), plan) : Json(nullptr);
  json["basis"] = {{"calibrated", machine.training.calibrated},
                   {"efficiency", machine.training.efficiency.value},
                   {"source", machine.training.fact("efficiency")->source}};
  if (plan.search) json["search"] = search_json(*plan.search);
  return json;
}

}  // namespace trnsim::fleet
