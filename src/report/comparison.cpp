#include "report/comparison.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/critical_path.h"
#include "report/time_text.h"
#include "report/verdict.h"

namespace trnsim::report {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t instructions(std::span<const Run> launch) {
  std::int64_t sum = 0;
  for (const Run& run : launch) sum += static_cast<std::int64_t>(run.program->size());
  return sum;
}

Losses losses_of(std::span<const Run> launch) {
  return losses(launch, critical_path(launch, slowest_core(launch)));
}

std::int64_t size_of(const LossChange& change) {
  return std::abs((change.after - change.before).count);
}

LaunchChange change_of(std::span<const Run> before, std::span<const Run> after) {
  LaunchChange change{before.front().kernel,    after.front().kernel, before.front().chip->name,
                      after.front().chip->name, latency(before),      latency(after),
                      instructions(before),     instructions(after),  {}};
  const Losses then = losses_of(before), now = losses_of(after);
  for (std::size_t i = 0; i < then.size(); ++i) {
    const auto loss = static_cast<Loss>(i);
    if (loss == Loss::kLaunch || (then[i].count == 0 && now[i].count == 0)) continue;
    change.losses.push_back({loss, then[i], now[i]});
  }
  std::stable_sort(change.losses.begin(), change.losses.end(),
                   [](const auto& a, const auto& b) { return size_of(a) > size_of(b); });
  return change;
}

std::string signed_time(Picoseconds time) {
  if (time.count < 0) return "-" + time_text({-time.count});
  return "+" + time_text(time);
}

std::string changed(const std::string& before, const std::string& after) {
  return before == after ? before : before + " to " + after;
}

}  // namespace

double LaunchChange::speedup() const {
  return after.count > 0 ? static_cast<double>(before.count) / static_cast<double>(after.count) : 0;
}

Comparison compare(std::span<const Run> before, std::span<const Run> after) {
  const auto then = launches(before), now = launches(after);
  const std::size_t pairs = std::min(then.size(), now.size());
  Comparison comparison;
  for (std::size_t i = 0; i < pairs; ++i) comparison.launches.push_back(change_of(then[i], now[i]));
  comparison.unpaired_before = then.size() - pairs;
  comparison.unpaired_after = now.size() - pairs;
  return comparison;
}

std::string text(const Comparison& comparison) {
  std::string out;
  for (const LaunchChange& change : comparison.launches) {
    out += fmt::format("{} on {}: {} to {}, {:.2f}x\n",
                       changed(change.kernel_before, change.kernel_after),
                       changed(change.chip_before, change.chip_after), time_text(change.before),
                       time_text(change.after), change.speedup());
    out += fmt::format("  {:<20} {:>12} {:>12} {:>13}\n", "where the time went", "before", "after",
                       "change");
    for (const LossChange& loss : change.losses) {
      out += fmt::format("  {:<20} {:>12} {:>12} {:>13}\n", loss_name(loss.loss),
                         time_text(loss.before), time_text(loss.after),
                         signed_time(loss.after - loss.before));
    }
  }
  if (comparison.unpaired_before + comparison.unpaired_after > 0) {
    out += fmt::format("launches without a partner: {} before, {} after\n",
                       comparison.unpaired_before, comparison.unpaired_after);
  }
  return out;
}

std::string json(const Comparison& comparison) {
  Json list = Json::array();
  for (const LaunchChange& change : comparison.launches) {
    Json losses = Json::array();
    for (const LossChange& loss : change.losses) {
      losses.push_back({{"cause", loss_name(loss.loss)},
                        {"before_ns", loss.before.ns()},
                        {"after_ns", loss.after.ns()}});
    }
    list.push_back({{"kernel_before", change.kernel_before},
                    {"kernel_after", change.kernel_after},
                    {"chip_before", change.chip_before},
                    {"chip_after", change.chip_after},
                    {"latency_before_ns", change.before.ns()},
                    {"latency_after_ns", change.after.ns()},
                    {"speedup", change.speedup()},
                    {"instructions_before", change.instructions_before},
                    {"instructions_after", change.instructions_after},
                    {"time_lost", std::move(losses)}});
  }
  const Json document{{"format", "trnsim comparison"},
                      {"format_version", 1},
                      {"launches", std::move(list)},
                      {"unpaired_before", comparison.unpaired_before},
                      {"unpaired_after", comparison.unpaired_after}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace trnsim::report
