// What a user asks: a model, a fleet, and as much of the layout as they care to fix. One table of
// options serves the command line, Python, JSON and sweeps.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fleet/layout.h"

namespace trnsim::fleet {

struct Request {
  std::string model, on;
  std::optional<std::int64_t> tp, pp, dp, cp, ep, zero, micro_batch, global_batch, sequence, chunks;
  std::optional<bool> sp;
  std::optional<Recompute> recompute;
  std::optional<Schedule> schedule;
  Precision precision = Precision::kBf16;
  std::optional<AttentionKernel> attention;
  OptimizerStates states = OptimizerStates::kFp32;
  double tokens = 1e12;
  std::string price;                         // a kind, or USD per accelerator-hour
  std::optional<double> checkpoint_minutes;  // chosen where not given
  // With any of these the step is also clocked event by event.
  std::optional<std::int64_t> stragglers;
  std::optional<double> straggler_slowdown, jitter;
};

struct Option {
  std::string_view name, help;
  bool flag;  // takes no value on the command line
  void (*set)(Request& request, const std::string& value);
};
std::span<const Option> options();

// Throws ConfigError for an unknown name, with the nearest, and for a value that makes no sense.
void set_option(Request& request, std::string_view name, const std::string& value);
Request request_of(const std::vector<std::pair<std::string, std::string>>& options);

}  // namespace trnsim::fleet
