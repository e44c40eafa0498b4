// How the config.json of each family is read. One function per family; the table says which
// model_type goes to which.
#pragma once

#include <span>
#include <string_view>

#include "fleet/config.h"
#include "fleet/model.h"

namespace trnsim::fleet {

struct Family {
  std::string_view model_type;
  Model (*read)(const Config& config);
};

std::span<const Family> families();

// The model of a config; an unknown model_type is refused with the nearest known ones.
Model read_model(const Config& config);

namespace family {

Model llama(const Config& config);  // Llama 2, 3, 3.1
Model mistral(const Config& config);
Model qwen2(const Config& config);
Model qwen3(const Config& config);
Model gemma(const Config& config);
Model gemma2(const Config& config);
Model gemma3(const Config& config);
Model gpt2(const Config& config);  // GPT-2, and GPT-3, which has its shapes
Model gpt_neox(const Config& config);
Model falcon(const Config& config);

Model mixtral(const Config& config);
Model qwen2_moe(const Config& config);
Model qwen3_moe(const Config& config);
Model deepseek(const Config& config);  // V2 and V3 with latent attention, Kimi K2
Model gpt_oss(const Config& config);
Model llama4(const Config& config);

Model bert(const Config& config);
Model t5(const Config& config);
Model vit(const Config& config);

// What the gated decoders share: grouped-query attention, RMSNorm, SwiGLU, rotary positions.
Model decoder(const Config& config);

}  // namespace family
}  // namespace trnsim::fleet
