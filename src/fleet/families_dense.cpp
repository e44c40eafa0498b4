// The dense decoders.
#include "base/error.h"
#include "fleet/families.h"

namespace trnsim::fleet::family {
namespace {

std::int64_t head_dim(const Config& config, std::int64_t hidden, std::int64_t heads) {
  if (config.has("head_dim")) return config.count("head_dim");
  if (hidden % heads != 0) {
    std::int64_t nearest = heads;
    while (hidden % nearest != 0) --nearest;
    config_error(
        "{}: hidden_size {} is not a multiple of num_attention_heads {}; nearest: {} heads",
        config.where(), hidden, heads, nearest);
  }
  return hidden / heads;
}

Attention attention_of(const Config& config, std::int64_t hidden) {
  Attention a;
  a.heads = config.count("num_attention_heads");
  a.kv_heads = config.count("num_key_value_heads", a.heads);
  if (a.kv_heads == 0) a.kv_heads = a.heads;
  a.head_dim = a.value_dim = head_dim(config, hidden, a.heads);
  a.qkv_bias = a.out_bias = config.flag("attention_bias", false);
  return a;
}

// Layers without a window among those with one, as layer_types or a period says.
void give_windows(Model& model, const Config& config, std::int64_t full_every) {
  const std::int64_t window = config.count("sliding_window", 0);
  const std::vector<std::string> types = config.texts("layer_types");
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const bool full = i < types.size() ? types[i] == "full_attention"
                                       : full_every > 0 && (i + 1) % full_every == 0;
    if (!full) model.layers[i].attention.window = window;
  }
}

}  // namespace

Model decoder(const Config& config) {
  Model model;
  model.hidden = config.count("hidden_size");
  model.vocabulary = config.count("vocab_size");
  model.sequence = config.count("max_position_embeddings", 0);
  model.tied = config.flag("tie_word_embeddings", false);
  Layer layer;
  layer.attention = attention_of(config, model.hidden);
  layer.feed_forward = {.width = config.count("intermediate_size"),
                        .gated = true,
                        .bias = config.flag("mlp_bias", false)};
  model.layers.assign(static_cast<std::size_t>(config.count("num_hidden_layers")), layer);
  return model;
}

Model llama(const Config& config) { return decoder(config); }

Model mistral(const Config& config) {
  Model model = decoder(config);
  give_windows(model, config, 0);
  return model;
}

Model qwen2(const Config& config) {
  Model model = decoder(config);
  for (Layer& layer : model.layers) layer.attention.qkv_bias = true;
  return model;
}

Model qwen3(const Config& config) {
  Model model = decoder(config);
  for (Layer& layer : model.layers) {
    layer.attention.query_key_norm = true;
    if (!config.has("head_dim")) layer.attention.head_dim = layer.attention.value_dim = 128;
  }
  return model;
}

Model gemma(const Config& config) {
  Model model = decoder(config);
  model.tied = config.flag("tie_word_embeddings", true);
  return model;
}

Model gemma2(const Config& config) {
  Model model = gemma(config);
  for (Layer& layer : model.layers) layer.norms = 4;
  give_windows(model, config, 2);
  return model;
}

Model gemma3(const Config& all) {
  const Config config = all.inside("text_config");
  Model model = gemma(config);
  for (Layer& layer : model.layers) {
    layer.norms = 4;
    layer.attention.query_key_norm = true;
  }
  give_windows(model, config, config.count("sliding_window_pattern", 6));
  return model;
}

Model gpt2(const Config& config) {
  Model model;
  model.hidden = config.count("n_embd");
  model.vocabulary = config.count("vocab_size");
  model.positions = model.sequence = config.count("n_positions");
  model.tied = config.flag("tie_word_embeddings", true);
  model.norm_bias = true;
  model.dropout = true;
  Layer layer;
  layer.attention.heads = layer.attention.kv_heads = config.count("n_head");
  layer.attention.head_dim = head_dim(config, model.hidden, layer.attention.heads);
  layer.attention.value_dim = layer.attention.head_dim;
  layer.attention.qkv_bias = layer.attention.out_bias = true;
  layer.feed_forward = {.width = config.has("n_inner") ? config.count("n_inner") : 4 * model.hidden,
                        .bias = true};
  model.layers.assign(static_cast<std::size_t>(config.count("n_layer")), layer);
  return model;
}

Model gpt_neox(const Config& config) {
  Model model = decoder(config);
  model.norm_bias = true;
  model.dropout = config.flag("dropout_in_training", false);
  for (Layer& layer : model.layers) {
    layer.attention.qkv_bias = layer.attention.out_bias = config.flag("attention_bias", true);
    layer.feed_forward.gated = false;
    layer.feed_forward.bias = true;
  }
  return model;
}

Model falcon(const Config& config) {
  Model model;
  model.hidden = config.count("hidden_size");
  model.vocabulary = config.count("vocab_size");
  model.sequence = config.count("max_position_embeddings", 2048);
  model.tied = config.flag("tie_word_embeddings", true);
  model.norm_bias = true;
  const bool bias = config.flag("bias", false);
  const bool grouped = config.flag("new_decoder_architecture", false);
  Layer layer;
  Attention& a = layer.attention;
  a.heads = config.count("num_attention_heads");
  a.kv_heads = a.heads;
  if (grouped)
    a.kv_heads = config.count("num_kv_heads");
  else if (config.flag("multi_query", true))
    a.kv_heads = 1;
  a.head_dim = a.value_dim = head_dim(config, model.hidden, a.heads);
  a.qkv_bias = a.out_bias = bias;
  layer.feed_forward = {.width = config.count("ffn_hidden_size", 4 * model.hidden), .bias = bias};
  layer.norms = grouped ? 2 : config.flag("parallel_attn", true) ? 1 : 2;
  model.layers.assign(static_cast<std::size_t>(config.count("num_hidden_layers")), layer);
  return model;
}

}  // namespace trnsim::fleet::family
