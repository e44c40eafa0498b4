#include "fleet/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/nearest.h"

namespace trnsim::fleet {
namespace {

double number_of(std::string_view name, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  double scale = 1;
  if (error == std::errc() && end - rest == 1) {
    static constexpr std::pair<char, double> kSuffixes[] = {
        {'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'G', 1e9}, {'T', 1e12}};
    for (const auto& [letter, factor] : kSuffixes)
      if (*rest == letter) scale = factor;
  }
  if (error != std::errc() || (rest != end && scale == 1) || !(value > 0))
    config_error("--{} {}: a number above 0, such as 20 or 15T, is needed", name, text);
  return value * scale;
}

std::int64_t whole(std::string_view name, const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || value < 0)
    config_error("--{} {}: a whole number, 0 or more, is needed", name, text);
  return value;
}

template <class Enum>
Enum one_of(std::string_view option, const std::string& text, int count) {
  std::vector<std::string> known;
  for (int i = 0; i < count; ++i) {
    if (fleet::name(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
    known.emplace_back(fleet::name(static_cast<Enum>(i)));
  }
  const std::string nearest = nearest_name(text, known);
  std::string list;
  for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
  config_error("--{} {}: one of {}{}", option, text, list,
               nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

bool yes(std::string_view option, const std::string& text) {
  if (text.empty() || text == "true" || text == "1" || text == "True") return true;
  if (text == "false" || text == "0" || text == "False") return false;
  config_error("--{} {}: true or false", option, text);
}

using R = Request;
using S = const std::string&;
constexpr Option kOptions[] = {
    {"model", "a published model, or the path of a config.json", false,
     [](R& r, S v) { r.model = v; }},
    {"on", "a system and how many: trn2-ultraserver:16, p5.48xlarge:32, rainier", false,
     [](R& r, S v) { r.on = v; }},
    {"tp", "tensor parallelism", false, [](R& r, S v) { r.tp = whole("tp", v); }},
    {"pp", "pipeline stages", false, [](R& r, S v) { r.pp = whole("pp", v); }},
    {"dp", "data parallelism", false, [](R& r, S v) { r.dp = whole("dp", v); }},
    {"cp", "context parallelism", false, [](R& r, S v) { r.cp = whole("cp", v); }},
    {"ep", "expert parallelism, within data and context", false,
     [](R& r, S v) { r.ep = whole("ep", v); }},
    {"sp", "sequence parallelism between tensor-parallel blocks", true,
     [](R& r, S v) { r.sp = yes("sp", v); }},
    {"zero", "ZeRO stage, 0 to 3", false, [](R& r, S v) { r.zero = whole("zero", v); }},
    {"micro-batch", "sequences of one rank at a time", false,
     [](R& r, S v) { r.micro_batch = whole("micro-batch", v); }},
    {"global-batch", "sequences of one step", false,
     [](R& r, S v) { r.global_batch = whole("global-batch", v); }},
    {"seq", "tokens of a sequence", false, [](R& r, S v) { r.sequence = whole("seq", v); }},
    {"recompute", "none, selective (attention) or full", false,
     [](R& r, S v) { r.recompute = one_of<Recompute>("recompute", v, 3); }},
    {"schedule", "1f1b, interleaved or gpipe", false,
     [](R& r, S v) { r.schedule = one_of<Schedule>("schedule", v, 3); }},
    {"chunks", "of layers on each stage, interleaved", false,
     [](R& r, S v) { r.chunks = whole("chunks", v); }},
    {"dtype", "bf16, fp32, fp8 products, or autocast: fp32 with bf16 products", false,
     [](R& r, S v) { r.precision = one_of<Precision>("dtype", v, 4); }},
    {"attention", "flash, or materialised: scores through memory", false,
     [](R& r, S v) { r.attention = one_of<AttentionKernel>("attention", v, 2); }},
    {"optimizer-states", "fp32 with a master copy, or bf16 without", false,
     [](R& r, S v) { r.states = one_of<OptimizerStates>("optimizer-states", v, 2); }},
    {"tokens", "to train on: 300B, 15T", false,
     [](R& r, S v) { r.tokens = number_of("tokens", v); }},
    {"price", "on-demand, capacity-block, reserved, or USD per accelerator-hour", false,
     [](R& r, S v) { r.price = v; }},
    {"stragglers", "chips that are slow: clock the step event by event", false,
     [](R& r, S v) { r.stragglers = whole("stragglers", v); }},
    {"straggler-slowdown", "of a straggler, 1.2 where not given", false,
     [](R& r, S v) { r.straggler_slowdown = number_of("straggler-slowdown", v); }},
    {"jitter", "how much slower, at most, each chip may be than the fastest: 0.05", false,
     [](R& r, S v) { r.jitter = number_of("jitter", v); }},
    {"checkpoint-minutes", "between checkpoints; chosen where not given", false,
     [](R& r, S v) { r.checkpoint_minutes = number_of("checkpoint-minutes", v); }},
};

}  // namespace

std::span<const Option> options() { return kOptions; }

void set_option(Request& request, std::string_view name, const std::string& value) {
  std::string dashed(name);
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  std::vector<std::string> known;
  for (const Option& option : kOptions) {
    if (option.name == dashed) return option.set(request, value);
    known.emplace_back(option.name);
  }
  const std::string nearest = nearest_name(dashed, known);
  config_error("no option is called {}{}", name,
               nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

Request request_of(const std::vector<std::pair<std::string, std::string>>& options) {
  Request request;
  for (const auto& [name, value] : options) set_option(request, name, value);
  if (request.model.empty()) config_error("no model is given, such as llama3.1-405b");
  if (request.on.empty()) config_error("no system is given, such as --on trn2-ultraserver:16");
  return request;
}

}  // namespace trnsim::fleet
