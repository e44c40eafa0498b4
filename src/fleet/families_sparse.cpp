// Mixtures of experts.
#include <algorithm>

#include "base/error.h"
#include "fleet/families.h"

namespace trnsim::fleet::family {
namespace {

void check_choice(const FeedForward& f, const Config& config) {
  if (f.chosen > f.experts)
    config_error("{}: {} experts per token of {}; at most {}", config.where(), f.chosen, f.experts,
                 f.experts);
}

// The same mixture in every layer that has one; `sparse(i)` says which.
template <class Which>
Model with_experts(Model model, const FeedForward& mixture, const Config& config, Which sparse) {
  check_choice(mixture, config);
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    if (sparse(static_cast<std::int64_t>(i))) model.layers[i].feed_forward = mixture;
  return model;
}

bool every_layer(std::int64_t) { return true; }

// Qwen: all layers but those that are listed, or every n-th.
auto qwen_layers(const Config& config) {
  const std::int64_t step = std::max<std::int64_t>(1, config.count("decoder_sparse_step", 1));
  return [step, dense = config.counts("mlp_only_layers")](std::int64_t i) {
    return std::find(dense.begin(), dense.end(), i) == dense.end() && (i + 1) % step == 0;
  };
}

}  // namespace

Model mixtral(const Config& config) {
  Model model = decoder(config);
  const FeedForward mixture{.width = config.count("intermediate_size"),
                            .gated = true,
                            .experts = config.count("num_local_experts"),
                            .chosen = config.count("num_experts_per_tok")};
  return with_experts(std::move(model), mixture, config, every_layer);
}

Model qwen2_moe(const Config& config) {
  const FeedForward mixture{.width = config.count("moe_intermediate_size"),
                            .gated = true,
                            .experts = config.count("num_experts"),
                            .chosen = config.count("num_experts_per_tok"),
                            .shared_width = config.count("shared_expert_intermediate_size"),
                            .shared_gate = true};
  return with_experts(qwen2(config), mixture, config, qwen_layers(config));
}

Model qwen3_moe(const Config& config) {
  const FeedForward mixture{.width = config.count("moe_intermediate_size"),
                            .gated = true,
                            .experts = config.count("num_experts"),
                            .chosen = config.count("num_experts_per_tok")};
  return with_experts(qwen3(config), mixture, config, qwen_layers(config));
}

Model deepseek(const Config& config) {
  Model model = decoder(config);
  for (Layer& layer : model.layers) {
    Attention& a = layer.attention;
    a.kv_heads = a.heads;
    a.rope_dim = config.count("qk_rope_head_dim");
    a.head_dim = config.count("qk_nope_head_dim") + a.rope_dim;
    a.value_dim = config.count("v_head_dim");
    a.query_rank = config.count("q_lora_rank", 0);
    a.key_value_rank = config.count("kv_lora_rank");
  }
  if (config.count("n_routed_experts", 0) == 0) return model;
  const std::int64_t width = config.count("moe_intermediate_size");
  const FeedForward mixture{.width = width,
                            .gated = true,
                            .experts = config.count("n_routed_experts"),
                            .chosen = config.count("num_experts_per_tok"),
                            .shared_width = config.count("n_shared_experts", 0) * width,
                            // the bias of the balancing without an auxiliary loss
                            .router_bias = config.text("topk_method", "") == "noaux_tc"};
  const std::int64_t dense = config.count("first_k_dense_replace", 0);
  const std::int64_t every = std::max<std::int64_t>(1, config.count("moe_layer_freq", 1));
  return with_experts(std::move(model), mixture, config,
                      [=](std::int64_t i) { return i >= dense && i % every == 0; });
}

Model gpt_oss(const Config& config) {
  Model model = decoder(config);
  const std::int64_t window = config.count("sliding_window", 128);
  const std::vector<std::string> types = config.texts("layer_types");
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    Attention& a = model.layers[i].attention;
    a.qkv_bias = a.out_bias = config.flag("attention_bias", true);
    a.sinks = true;
    const bool full = i < types.size() ? types[i] == "full_attention" : i % 2 == 1;
    if (!full) a.window = window;
  }
  const FeedForward mixture{.width = config.count("intermediate_size"),
                            .gated = true,
                            .bias = true,
                            .experts = config.count("num_local_experts"),
                            .chosen = config.count("num_experts_per_tok"),
                            .router_bias = true};
  return with_experts(std::move(model), mixture, config, every_layer);
}

Model llama4(const Config& all) {
  const Config config = all.inside("text_config");
  Model model = decoder(config);
  const std::int64_t width = config.count("intermediate_size");
  for (Layer& layer : model.layers)
    layer.feed_forward.width = config.count("intermediate_size_mlp", width);
  const FeedForward mixture{.width = width,
                            .gated = true,
                            .experts = config.count("num_local_experts"),
                            .chosen = config.count("num_experts_per_tok"),
                            .shared_width = width};
  const std::vector<std::int64_t> listed = config.counts("moe_layers");
  const std::int64_t step = std::max<std::int64_t>(1, config.count("interleave_moe_layer_step", 1));
  return with_experts(std::move(model), mixture, config, [=](std::int64_t i) {
    return listed.empty() ? (i + 1) % step == 0
                          : std::find(listed.begin(), listed.end(), i) != listed.end();
  });
}

}  // namespace trnsim::fleet::family
