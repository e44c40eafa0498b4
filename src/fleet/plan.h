// The answer to a request: a layout, its step, and what a whole training run takes of time, money
// and energy, with failures.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "fleet/event_step.h"
#include "fleet/search.h"

namespace trnsim::fleet {

// Checkpoints against failures: Daly, A higher order estimate of the optimum checkpoint interval
// (2006), first order.
struct Goodput {
  double checkpoint_bytes = 0, checkpoint_seconds = 0;
  double interval_seconds = 0;
  double failure_seconds = 0;  // mean time between interruptions of the whole job
  double restart_seconds = 0;
  double share = 1;  // of time that makes progress that lasts
};
Goodput goodput_of(const Model& model, const Machine& machine,
                   std::optional<double> interval_seconds);

struct Plan {
  Request request;
  Model model;
  Machine machine;
  Layout layout;
  Step step;
  std::optional<Search> search;  // where the layout was looked for
  std::optional<EventStep> events;
  Goodput goodput;
  std::optional<Price> price;
  std::string no_price;  // why there is none
  double tokens_per_second = 0;

  bool fits() const { return step.memory.total() <= machine.device->memory_bytes(); }
  double hours() const { return request.tokens / tokens_per_second / goodput.share / 3600; }
  std::optional<double> usd() const;
  std::optional<double> kwh() const;
};

struct Folders {
  std::filesystem::path hardware, models;
};
Folders folders_beside(const std::filesystem::path& hardware);

Plan make_plan(const Request& request, const Folders& folders, bool look_for_more = false,
               const std::function<void(std::int64_t)>& progress = {});

nlohmann::ordered_json plan_json(const Plan& plan);
std::string plan_text(const Plan& plan);
std::string search_text(const Plan& plan);

}  // namespace trnsim::fleet
