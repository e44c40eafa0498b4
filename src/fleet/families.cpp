#include "fleet/families.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"

namespace trnsim::fleet {
namespace {

constexpr Family kFamilies[] = {
    {"llama", family::llama},
    {"llama4", family::llama4},
    {"llama4_text", family::llama4},
    {"mistral", family::mistral},
    {"mixtral", family::mixtral},
    {"qwen2", family::qwen2},
    {"qwen2_moe", family::qwen2_moe},
    {"qwen3", family::qwen3},
    {"qwen3_moe", family::qwen3_moe},
    {"deepseek_v2", family::deepseek},
    {"deepseek_v3", family::deepseek},
    {"kimi_k2", family::deepseek},
    {"gpt2", family::gpt2},
    {"gpt_neox", family::gpt_neox},
    {"falcon", family::falcon},
    {"gemma", family::gemma},
    {"gemma2", family::gemma2},
    {"gemma3", family::gemma3},
    {"gemma3_text", family::gemma3},
    {"gpt_oss", family::gpt_oss},
    {"bert", family::bert},
    {"t5", family::t5},
    {"vit", family::vit},
};

void check_heads(const Attention& a, const Config& config) {
  if (a.kv_heads > a.heads || a.heads % a.kv_heads != 0) {
    config_error("{}: {} key-value heads do not divide {} attention heads; nearest: {}",
                 config.where(), a.kv_heads, a.heads, a.kv_heads > a.heads ? a.heads : 1);
  }
}

}  // namespace

std::span<const Family> families() { return kFamilies; }

Model read_model(const Config& config) {
  const std::string type = config.type();
  std::vector<std::string> known;
  for (const Family& family : kFamilies) {
    if (family.model_type == type) {
      Model model = family.read(config);
      model.family = type;
      for (const Layer& layer : model.layers) check_heads(layer.attention, config);
      return model;
    }
    known.emplace_back(family.model_type);
  }
  if (type.empty()) {
    config_error("{}: model_type is missing; it says how the other keys are read. Known: {}",
                 config.where(), fmt::join(known, ", "));
  }
  const std::string nearest = nearest_name(type, known);
  config_error("{}: the architecture \"{}\" is not known{}. Known: {}", config.where(), type,
               nearest.empty() ? "" : fmt::format("; nearest: \"{}\"", nearest),
               fmt::join(known, ", "));
}

}  // namespace trnsim::fleet
