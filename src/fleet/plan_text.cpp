#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fleet/plan.h"

namespace trnsim::fleet {
namespace {

std::string count_text(double count) {
  static constexpr std::pair<double, const char*> kUnits[] = {
      {1e12, " T"}, {1e9, " B"}, {1e6, " M"}, {1e3, " k"}};
  for (const auto& [size, unit] : kUnits)
    if (count >= size) return fmt::format("{:.4g}{}", count / size, unit);
  return fmt::format("{:.4g}", count);
}

std::string seconds_text(double seconds) {
  if (seconds >= 2 * 86400) return fmt::format("{:.4g} days", seconds / 86400);
  if (seconds >= 2 * 3600) return fmt::format("{:.4g} h", seconds / 3600);
  if (seconds >= 120) return fmt::format("{:.4g} min", seconds / 60);
  if (seconds >= 1) return fmt::format("{:.4g} s", seconds);
  return fmt::format("{:.4g} ms", seconds * 1e3);
}

std::string gib(double bytes) { return fmt::format("{:.2f} GiB", bytes / (1 << 30)); }

void row(std::string& text, std::string_view label, const std::string& value) {
  text += fmt::format("  {:<12} {}\n", label, value);
}

struct Line {
  std::string name;
  double seconds;
};

std::vector<Line> lines_of(const Step& step) {
  std::vector<Line> lines;
  for (int i = 0; i < kPartCount; ++i)
    lines.push_back(
        {std::string(name(static_cast<Part>(i))), step.compute[static_cast<std::size_t>(i)]});
  lines.push_back({"recomputed", step.recompute});
  for (int i = 0; i < kAxisCount; ++i)
    lines.push_back({std::string(name(static_cast<Axis>(i))) + "-parallel transfers",
                     step.exposed[static_cast<std::size_t>(i)]});
  lines.push_back({"pipeline bubble", step.bubble});
  lines.push_back({"optimiser", step.optimizer});
  lines.push_back({"host", step.input});
  std::erase_if(lines, [](const Line& line) { return line.seconds <= 0; });
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.seconds > b.seconds; });
  return lines;
}

std::string memory_text(const Plan& plan) {
  const Memory& m = plan.step.memory;
  const double capacity = plan.machine.device->memory_bytes();
  std::string text;
  row(text, "memory",
      fmt::format("{} of {} per core on stage {}: {}", gib(m.total()), gib(capacity),
                  plan.step.fullest_stage,
                  plan.fits()
                      ? fmt::format("fits, {} left", gib(capacity - m.total()))
                      : fmt::format("DOES NOT FIT, {} too much", gib(m.total() - capacity))));
  row(text, "",
      fmt::format("weights {}, gradients {}, optimiser {}", gib(m.weights), gib(m.gradients),
                  gib(m.states)));
  row(text, "",
      fmt::format("activations {}, working {}, reserved {}", gib(m.activations), gib(m.working),
                  gib(m.reserved)));
  return text;
}

}  // namespace

std::string plan_text(const Plan& plan) {
  const Machine& machine = plan.machine;
  const catalog::Training& training = machine.training;
  const Parameters counted = parameters(plan.model);
  const double low = training.faster, high = training.slower;
  std::string text =
      fmt::format("{}, {} parameters{}, on {}: {} x {}, {} ranks\n", plan.model.name,
                  count_text(static_cast<double>(counted.total())),
                  counted.experts > 0
                      ? fmt::format(" ({} active)", count_text(static_cast<double>(counted.active)))
                      : "",
                  machine.name, machine.accelerators, machine.title, machine.ranks());
  row(text, "layout", layout_text(plan.layout) + (plan.search ? " (found)" : ""));
  row(text, "",
      fmt::format("{} sequences of {} tokens per step, {}, {} attention", plan.layout.global_batch,
                  plan.layout.sequence, name(plan.layout.precision), name(plan.layout.attention)));
  row(text, "step",
      fmt::format("{} ({} to {}); {} tokens/s", seconds_text(plan.step.seconds),
                  seconds_text(plan.step.seconds * low), seconds_text(plan.step.seconds * high),
                  count_text(plan.tokens_per_second)));
  if (plan.events) {
    const EventStep& e = *plan.events;
    row(text, "stragglers",
        fmt::format("{} by events; a typical replica waits {}; {} of {} replicas differ, {} events",
                    seconds_text(e.seconds), seconds_text(e.waiting), e.different, e.replicas,
                    count_text(static_cast<double>(e.events))));
  }
  row(text, "MFU",
      fmt::format("{:.1f} % ({:.1f} to {:.1f}); HFU {:.1f} %", 100 * plan.step.mfu,
                  100 * plan.step.mfu / high, 100 * plan.step.mfu / low, 100 * plan.step.hfu));
  text += memory_text(plan);
  const double seconds = plan.hours() * 3600;
  row(text, count_text(plan.request.tokens) + " tokens",
      fmt::format("{} ({} to {}), failures included", seconds_text(seconds),
                  seconds_text(seconds * low), seconds_text(seconds * high)));
  if (plan.price)
    row(text, "cost",
        fmt::format("{} USD ({} to {}) at {:.4g} USD per accelerator-hour, {}{}",
                    count_text(*plan.usd()), count_text(*plan.usd() * low),
                    count_text(*plan.usd() * high), plan.price->usd, plan.price->kind,
                    plan.price->date.empty() ? "" : " of " + plan.price->date));
  else
    row(text, "cost", plan.no_price);
  if (plan.kwh())
    row(text, "energy",
        fmt::format("{:.4g} MWh at {:.0f} W per accelerator", *plan.kwh() * 1e-3,
                    *machine.power * machine.facility));
  else
    row(text, "energy", "not known: no power of this accelerator is public");
  const Goodput& g = plan.goodput;
  row(text, "goodput",
      fmt::format("{:.1f} %: an interruption every {}, a checkpoint of {} every {}", 100 * g.share,
                  seconds_text(g.failure_seconds), seconds_text(g.checkpoint_seconds),
                  seconds_text(g.interval_seconds)));
  row(text, "basis",
      fmt::format("{}, efficiency {:.2f}: {}", training.calibrated ? "calibrated" : "extrapolated",
                  training.efficiency.value, training.fact("efficiency")->source));
  text += "  where the step goes\n";
  for (const Line& line : lines_of(plan.step))
    text += fmt::format("    {:<30} {:>12} {:>6.1f} %\n", line.name, seconds_text(line.seconds),
                        100 * line.seconds / plan.step.seconds);
  return text;
}

std::string search_text(const Plan& plan) {
  if (!plan.search) return {};
  const Search& search = *plan.search;
  std::string text = fmt::format("{} layouts tried, {} fit\n", search.tried, search.fitting);
  if (search.best.empty()) return text + "  none fits; the one above needs least memory\n";
  text += fmt::format("  {:>10} {:>12} {:>10}  layout\n", "step", "tokens/s", "GiB");
  for (const Candidate& c : search.best)
    text +=
        fmt::format("  {:>10} {:>12} {:>10.1f}  {}\n", seconds_text(c.seconds),
                    count_text(c.tokens_per_second), c.memory / (1 << 30), layout_text(c.layout));
  text += "  why the others lose\n";
  for (const Loser& loser : search.losers)
    text += fmt::format("    {:<16} {}\n", loser.choice, loser.reason);
  return text;
}

}  // namespace trnsim::fleet
