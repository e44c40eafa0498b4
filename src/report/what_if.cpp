#include "report/what_if.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/time_text.h"

namespace trnsim::report {
namespace {

constexpr double kLost = 0.04;      // of the latency: what is worth a question
constexpr double kWorth = 1.02;     // the least speedup worth a line
constexpr double kNothing = 0.005;  // a gain that is none
constexpr std::size_t kAsked = 6;   // questions at most

double speedup(Picoseconds now, Picoseconds then) {
  return then.count > 0 ? now.ns() / then.ns() : 1;
}

Picoseconds behind(const Obstacle& obstacle, const Losses& losses) {
  Picoseconds time;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (static_cast<Loss>(i) != Loss::kLaunch && obstacle.behind(static_cast<Loss>(i)))
      time += losses[i];
  }
  return time;
}

}  // namespace

std::vector<Gain> gains(std::span<const Run> launch, std::span<const Obstacle* const> obstacles) {
  const Picoseconds now = latency(launch);
  std::vector<Gain> gains;
  for (const Obstacle* obstacle : obstacles) {
    Question question(launch);
    obstacle->remove(question);
    const Picoseconds then = question.latency();
    gains.push_back({obstacle, then, speedup(now, then)});
  }
  std::ranges::stable_sort(gains, {}, &Gain::latency);
  return gains;
}

bool clocked_again_unasked(std::span<const Run> launch) {
  std::size_t instructions = 0;
  for (const Run& run : launch) instructions += run.program->size();
  return instructions <= kClockedAgainUnasked;
}

std::vector<Gain> advice(std::span<const Run> launch, const Losses& losses) {
  const double all = latency(launch).ns();
  std::vector<std::pair<double, const Obstacle*>> asked;
  for (const Obstacle& obstacle : obstacles()) {
    const double lost = behind(obstacle, losses).ns();
    if (obstacle.advice.empty() || lost <= kLost * all) continue;
    if (!obstacle.can_matter || obstacle.can_matter(launch)) asked.emplace_back(lost, &obstacle);
  }
  std::ranges::stable_sort(asked, std::greater{}, [](const auto& a) { return a.first; });
  if (asked.size() > kAsked) asked.resize(kAsked);
  std::vector<const Obstacle*> list;
  for (const auto& [lost, obstacle] : asked) list.push_back(obstacle);
  std::vector<Gain> best = gains(launch, list);
  std::erase_if(best, [](const Gain& gain) { return gain.speedup < kWorth; });
  return best;
}

std::string text(std::span<const WhatIf> launches) {
  std::string out;
  for (const WhatIf& launch : launches) {
    out += fmt::format("{} on {}: {}\n  {:>8} {:>12}  without\n", launch.kernel, launch.chip,
                       time_text(launch.latency), "speedup", "latency");
    std::string nothing;
    for (const Gain& gain : launch.gains) {
      if (std::abs(gain.speedup - 1) < kNothing) {
        nothing += fmt::format("{}{}", nothing.empty() ? "" : ", ", gain.obstacle->name);
        continue;
      }
      out += fmt::format("  {:>7.2f}x {:>12}  {}: {}\n", gain.speedup, time_text(gain.latency),
                         gain.obstacle->name, gain.obstacle->without);
    }
    if (!nothing.empty()) out += fmt::format("  no gain: {}\n", nothing);
    if (!launch.elsewhere.empty()) out += fmt::format("  {:>8} {:>12}  on\n", "speedup", "latency");
    for (const Elsewhere& other : launch.elsewhere) {
      if (other.latency) {
        out += fmt::format("  {:>7.2f}x {:>12}  {}\n", speedup(launch.latency, *other.latency),
                           time_text(*other.latency), other.chip);
      } else {
        out += fmt::format("  {:>8} {:>12}  {}: {}\n", "-", "-", other.chip, other.refusal);
      }
    }
  }
  return out;
}

std::string json(std::span<const WhatIf> launches) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const WhatIf& launch : launches) {
    Json gains = Json::array(), elsewhere = Json::array();
    for (const Gain& gain : launch.gains) {
      gains.push_back({{"obstacle", gain.obstacle->name},
                       {"without", gain.obstacle->without},
                       {"advice", gain.obstacle->advice},
                       {"latency_ns", gain.latency.ns()},
                       {"speedup", gain.speedup}});
    }
    for (const Elsewhere& other : launch.elsewhere) {
      Json entry{{"chip", other.chip}};
      if (other.latency) {
        entry["latency_ns"] = other.latency->ns();
        entry["speedup"] = speedup(launch.latency, *other.latency);
      } else {
        entry["refused"] = other.refusal;
      }
      elsewhere.push_back(std::move(entry));
    }
    list.push_back({{"kernel", launch.kernel},
                    {"chip", launch.chip},
                    {"latency_ns", launch.latency.ns()},
                    {"gains", std::move(gains)},
                    {"other_chips", std::move(elsewhere)}});
  }
  return list.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace trnsim::report
