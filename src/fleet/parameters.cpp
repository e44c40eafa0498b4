#include "fleet/model.h"

namespace trnsim::fleet {
namespace {

std::int64_t norm(const Model& model, std::int64_t width) {
  return width * (model.norm_bias ? 2 : 1);
}

std::int64_t of_attention(const Attention& a, std::int64_t hidden) {
  std::int64_t count = a.value_width() * hidden + (a.out_bias ? hidden : 0);
  if (a.latent()) {
    const std::int64_t nope = a.head_dim - a.rope_dim;
    if (a.query_rank > 0)
      count += hidden * a.query_rank + a.query_rank + a.query_rank * a.query_width();
    else
      count += hidden * a.query_width();
    count += hidden * (a.key_value_rank + a.rope_dim) + a.key_value_rank;
    count += a.key_value_rank * a.heads * (nope + a.value_dim);
  } else {
    count += (hidden + (a.qkv_bias ? 1 : 0)) * (a.query_width() + a.kv_width());
  }
  if (a.query_key_norm) count += 2 * a.head_dim;
  if (a.sinks) count += a.heads;
  return count;
}

// One expert, or the dense block, of this width.
std::int64_t of_block(const FeedForward& f, std::int64_t width, std::int64_t hidden) {
  std::int64_t count = f.matrices() * width * hidden;
  if (f.bias) count += (f.matrices() - 1) * width + hidden;
  return count;
}

}  // namespace

Parameters parameters(const Layer& layer, const Model& model) {
  Parameters p;
  const FeedForward& f = layer.feed_forward;
  p.attention = of_attention(layer.attention, model.hidden);
  if (layer.cross) p.attention += of_attention(*layer.cross, model.hidden);
  p.norms = layer.norms * norm(model, model.hidden);
  if (f.sparse()) {
    const std::int64_t one = of_block(f, f.width, model.hidden);
    p.experts = f.experts * one;
    if (f.shared_width > 0) p.dense = of_block(f, f.shared_width, model.hidden);
    p.router =
        f.experts * (model.hidden + (f.router_bias ? 1 : 0)) + (f.shared_gate ? model.hidden : 0);
    p.active = p.attention + p.norms + p.dense + p.router + f.chosen * one;
  } else {
    p.dense = of_block(f, f.width, model.hidden);
    p.active = p.total();
  }
  return p;
}

Parameters parameters(const Model& model) {
  Parameters all;
  for (const std::vector<Layer>* stack : {&model.layers, &model.encoder}) {
    if (stack->empty()) continue;
    for (const Layer& layer : *stack) {
      const Parameters one = parameters(layer, model);
      all.attention += one.attention;
      all.dense += one.dense;
      all.experts += one.experts;
      all.router += one.router;
      all.norms += one.norms;
      all.active += one.active;
    }
    if (model.final_norm) all.norms += norm(model, model.hidden);
    all.attention += model.buckets * stack->front().attention.heads;
  }
  if (model.embedding_norm) all.norms += norm(model, model.hidden);
  all.embedding = (model.vocabulary + model.positions + model.types) * model.hidden;
  if (model.patch_values > 0)  // the patch projection with its bias, and the class token
    all.embedding += (model.patch_values + 1) * model.hidden + model.hidden;
  if (model.head_dense) all.head += model.hidden * (model.hidden + 1) + norm(model, model.hidden);
  if (model.vocabulary > 0) {
    if (!model.tied) all.head += model.vocabulary * model.hidden;
    if (model.head_bias) all.head += model.vocabulary;
  }
  all.extra = model.extra;
  std::int64_t in_layers = 0;
  for (const std::vector<Layer>* stack : {&model.layers, &model.encoder})
    for (const Layer& layer : *stack) in_layers += parameters(layer, model).total();
  all.active += all.total() - in_layers;
  if (!model.tied) all.active -= model.vocabulary * model.hidden;
  return all;
}

}  // namespace trnsim::fleet
