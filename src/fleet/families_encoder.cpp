// BERT, T5 and ViT.
#include <algorithm>

#include "fleet/families.h"

namespace trnsim::fleet::family {
namespace {

bool is_for(const Config& config, std::string_view architecture) {
  const std::vector<std::string> names = config.texts("architectures");
  return std::find(names.begin(), names.end(), architecture) != names.end();
}

// Post-norm and pre-norm encoders alike: as many heads as key-value heads, biases everywhere.
Layer encoder_layer(const Config& config, std::int64_t hidden, bool qkv_bias) {
  Layer layer;
  Attention& a = layer.attention;
  a.heads = a.kv_heads = config.count("num_attention_heads");
  a.head_dim = a.value_dim = hidden / a.heads;
  a.causal = false;
  a.qkv_bias = qkv_bias;
  a.out_bias = true;
  layer.feed_forward = {.width = config.count("intermediate_size"), .bias = true};
  return layer;
}

}  // namespace

Model bert(const Config& config) {
  Model model;
  model.hidden = config.count("hidden_size");
  model.vocabulary = config.count("vocab_size");
  model.positions = model.sequence = config.count("max_position_embeddings");
  model.types = config.count("type_vocab_size", 2);
  model.tied = true;
  model.norm_bias = true;
  model.embedding_norm = true;
  model.final_norm = false;
  model.dropout = true;
  const bool pretraining = is_for(config, "BertForPreTraining");
  if (pretraining || is_for(config, "BertForMaskedLM")) {
    model.head_dense = true;
    model.head_bias = true;
  }
  if (!is_for(config, "BertForMaskedLM"))
    model.extra += model.hidden * (model.hidden + 1);      // pooler
  if (pretraining) model.extra += 2 * (model.hidden + 1);  // next sentence
  model.layers.assign(static_cast<std::size_t>(config.count("num_hidden_layers")),
                      encoder_layer(config, model.hidden, true));
  return model;
}

Model t5(const Config& config) {
  Model model;
  model.hidden = config.count("d_model");
  model.vocabulary = config.count("vocab_size");
  model.buckets = config.count("relative_attention_num_buckets", 32);
  model.sequence = config.count("n_positions", 512);
  model.tied = config.flag("tie_word_embeddings", true);
  model.dropout = true;
  Layer layer;
  Attention& a = layer.attention;
  a.heads = a.kv_heads = config.count("num_heads");
  a.head_dim = a.value_dim = config.count("d_kv");
  a.causal = false;
  layer.feed_forward = {.width = config.count("d_ff"),
                        .gated = config.text("feed_forward_proj", "relu").starts_with("gated")};
  const std::int64_t depth = config.count("num_layers");
  model.encoder.assign(static_cast<std::size_t>(depth), layer);
  layer.cross = a;
  a.causal = true;
  layer.norms = 3;
  model.layers.assign(static_cast<std::size_t>(config.count("num_decoder_layers", depth)), layer);
  return model;
}

Model vit(const Config& config) {
  Model model;
  model.hidden = config.count("hidden_size");
  const std::int64_t patch = config.count("patch_size", 16);
  const std::int64_t across = config.count("image_size", 224) / patch;
  model.patch_values = config.count("num_channels", 3) * patch * patch;
  model.positions = model.sequence = across * across + 1;  // and the class token
  model.norm_bias = true;
  model.dropout = true;
  if (is_for(config, "ViTForImageClassification"))
    model.extra = config.entries("id2label", config.count("num_labels", 2)) * (model.hidden + 1);
  else
    model.extra = model.hidden * (model.hidden + 1);  // pooler
  model.layers.assign(static_cast<std::size_t>(config.count("num_hidden_layers")),
                      encoder_layer(config, model.hidden, config.flag("qkv_bias", true)));
  return model;
}

}  // namespace trnsim::fleet::family
