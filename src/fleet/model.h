// A transformer as its config.json describes it: the shapes that decide parameters, work and
// memory, nothing about its training. Decoders (dense and mixture of experts), encoders, encoder
// with decoder, and vision encoders share one description: a list of layers, each of a kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trnsim::fleet {

// Multi-head, grouped-query and multi-query attention; latent attention (MLA) where
// key_value_rank > 0.
struct Attention {
  std::int64_t heads = 0, kv_heads = 0;
  std::int64_t head_dim = 0, value_dim = 0;  // of one head's query and key; of its value
  std::int64_t query_rank = 0, key_value_rank = 0, rope_dim = 0;  // latent attention
  std::int64_t window = 0;                                        // 0: everything before
  bool causal = true;
  bool qkv_bias = false, out_bias = false;
  bool query_key_norm = false;
  bool sinks = false;  // one learned logit per head

  bool latent() const { return key_value_rank > 0; }
  std::int64_t query_width() const { return heads * head_dim; }
  std::int64_t value_width() const { return heads * value_dim; }
  std::int64_t kv_width() const { return kv_heads * (head_dim + value_dim); }
  bool operator==(const Attention&) const = default;
};

// The feed-forward part. With experts, `width` is of one expert.
struct FeedForward {
  std::int64_t width = 0;
  bool gated = false, bias = false;
  std::int64_t experts = 0, chosen = 0;  // 0 experts: dense
  std::int64_t shared_width = 0;         // all shared experts together
  bool shared_gate = false, router_bias = false;

  bool sparse() const { return experts > 0; }
  // Matrices of one expert or of the dense block: in (twice where gated) and out.
  std::int64_t matrices() const { return gated ? 3 : 2; }
  bool operator==(const FeedForward&) const = default;
};

struct Layer {
  Attention attention;
  std::optional<Attention> cross;  // a decoder's attention to the encoder
  FeedForward feed_forward;
  int norms = 2;

  bool operator==(const Layer&) const = default;
};

struct Model {
  std::string name, family, title, source;
  std::int64_t hidden = 0, vocabulary = 0;
  std::int64_t positions = 0;   // learned position embeddings; 0 for rotary and relative ones
  std::int64_t types = 0;       // token type embeddings (BERT)
  std::int64_t buckets = 0;     // relative position buckets, per head (T5)
  std::int64_t sequence = 0;    // longest sequence that the config speaks of; 0: not stated
  std::int64_t extra = 0;       // parameters of no other kind, such as poolers and task heads
  bool tied = false;            // head and embedding share their matrix
  bool norm_bias = false;       // LayerNorm rather than RMSNorm
  bool embedding_norm = false;  // BERT
  bool final_norm = true;
  bool dropout = false;     // masks are kept for the backward pass (GPT-2, BERT, ...)
  bool head_dense = false;  // BERT's prediction head: one more dense layer and norm
  bool head_bias = false;
  std::int64_t patch_values = 0;  // vision: values of a patch; 0 for text
  std::vector<Layer> layers;      // the decoder's, or the encoder's where there is no decoder
  std::vector<Layer> encoder;     // T5

  std::int64_t depth() const { return static_cast<std::int64_t>(layers.size()); }
};

// Parameters by part. `active` is what one token meets: the chosen experts, and one row of the
// table of embeddings (which counts as none) unless the table is the head as well.
struct Parameters {
  std::int64_t embedding = 0, attention = 0, dense = 0, experts = 0, router = 0, norms = 0,
               head = 0, extra = 0;
  std::int64_t active = 0;
  std::int64_t total() const {
    return embedding + attention + dense + experts + router + norms + head + extra;
  }
};
Parameters parameters(const Model& model);
// Of one layer, every expert counted.
Parameters parameters(const Layer& layer, const Model& model);

}  // namespace trnsim::fleet
