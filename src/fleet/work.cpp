#include "fleet/work.h"

#include <algorithm>

namespace trnsim::fleet {
namespace {

// Adds to a Work what one kind of thing needs; every size is of one rank.
class Builder {
 public:
  Builder(const Model& model, const Layout& layout)
      : model_(model),
        layout_(layout),
        tokens_(layout.tokens()),
        width_(tensor_bytes(layout.precision)),
        residual_(static_cast<double>(tokens_) * static_cast<double>(model.hidden) /
                  static_cast<double>(layout.residual_split())) {}

  Work take() { return std::move(work_); }
  Work& work() { return work_; }
  std::int64_t tokens() const { return tokens_; }
  double width() const { return width_; }
  double residual() const { return residual_; }

  void matmul(std::int64_t m, std::int64_t k, std::int64_t n, Part part, std::int64_t count = 1) {
    work_.matmuls.push_back({m, k, n, count, part});
  }

  // A pass forwards, and one backwards that also reads the gradient.
  void pass(double elements, double in, double out, int arithmetic, int functions, Part part,
            int backward_arithmetic) {
    work_.forward.push_back({elements, in * width_, out * width_, arithmetic, functions, part});
    work_.backward.push_back(
        {elements, (in + 1) * width_, in * width_, backward_arithmetic, functions, part});
  }

  void keep(double bytes) { work_.kept += bytes; }
  void keep_tensor(double elements) { work_.kept += elements * width_; }

  void norm() {
    pass(residual_, 1, 1, 4, 0, Part::kNorms, 8);  // moments, then scale
    keep_tensor(residual_);
  }
  // Bias, dropout and residual in one pass.
  void residual_add() {
    pass(residual_, 2, 1, model_.dropout ? 3 : 1, 0, Part::kNorms, model_.dropout ? 2 : 1);
    if (model_.dropout) {
      work_.forward.back().bytes_out += 1;
      work_.backward.back().bytes_in = width_ + 1;
      work_.backward.back().bytes_out = width_;
      keep(residual_);  // the mask, one byte each
    } else {
      work_.backward.pop_back();  // the gradient goes both ways unchanged
    }
  }

  // What surrounds a block that tensor parallelism splits: in and out of it.
  void tensor_transfers() {
    if (layout_.tp == 1) return;
    const double bytes = static_cast<double>(tokens_) * static_cast<double>(model_.hidden) * width_;
    if (layout_.sp) {
      work_.forward_transfers.push_back({Transfer::kAllGather, Axis::kTensor, bytes});
      work_.forward_transfers.push_back({Transfer::kReduceScatter, Axis::kTensor, bytes});
      // The gathered input was not kept: it is gathered again for the gradient of the weights.
      for (const Transfer t :
           {Transfer::kAllGather, Transfer::kAllGather, Transfer::kReduceScatter})
        work_.backward_transfers.push_back({t, Axis::kTensor, bytes});
    } else {
      work_.forward_transfers.push_back({Transfer::kAllReduce, Axis::kTensor, bytes});
      work_.backward_transfers.push_back({Transfer::kAllReduce, Axis::kTensor, bytes});
    }
  }

 private:
  const Model& model_;
  const Layout& layout_;
  Work work_;
  std::int64_t tokens_;
  double width_, residual_;
};

double product(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

// Keys and values are held by every tensor-parallel rank that has a query head for them.
std::int64_t kv_heads_of(const Attention& a, std::int64_t tp) {
  return std::max<std::int64_t>(1, a.kv_heads / tp);
}

void add_projections(Builder& b, const Model& model, const Attention& a, const Layout& layout) {
  const std::int64_t t = b.tokens(), tp = layout.tp, h = model.hidden;
  const std::int64_t heads = a.heads / tp;
  b.keep_tensor(b.residual());  // the input of the projections
  if (a.latent()) {
    const std::int64_t nope = a.head_dim - a.rope_dim;
    if (a.query_rank > 0) {
      b.matmul(t, h, a.query_rank, Part::kProjections);
      b.matmul(t, a.query_rank, heads * a.head_dim, Part::kProjections);
      b.keep_tensor(2 * product(t, a.query_rank));  // before and after its norm
    } else {
      b.matmul(t, h, heads * a.head_dim, Part::kProjections);
    }
    b.matmul(t, h, a.key_value_rank + a.rope_dim, Part::kProjections);
    b.matmul(t, a.key_value_rank, heads * (nope + a.value_dim), Part::kProjections);
    b.keep_tensor(2 * product(t, a.key_value_rank + a.rope_dim));
    b.keep_tensor(product(t, heads * (2 * a.head_dim + a.value_dim)));
  } else {
    const std::int64_t kv = kv_heads_of(a, tp);
    const std::int64_t columns = heads * a.head_dim + kv * (a.head_dim + a.value_dim);
    b.matmul(t, h, columns, Part::kProjections);
    b.keep_tensor(product(t, columns));
  }
  b.matmul(t, heads * a.value_dim, h, Part::kProjections);
  b.keep_tensor(product(t, heads * a.value_dim));
  if (model.positions == 0 && model.buckets == 0)  // rotary: queries and keys are turned
    b.pass(product(t, heads * a.head_dim + kv_heads_of(a, tp) * a.head_dim), 1, 1, 3, 0,
           Part::kProjections, 3);
}

void add_attention(Builder& b, const Model& model, const Attention& a, const Layout& layout) {
  AttentionWork core;
  core.count = layout.micro_batch * (a.heads / layout.tp);
  core.queries = layout.sequence / layout.cp;
  core.keys = layout.sequence;
  core.head_dim = a.head_dim;
  core.value_dim = a.value_dim;
  core.causal = a.causal;
  core.window = a.window;
  core.dropout = model.dropout;
  const double scores = static_cast<double>(core.count) * product(core.queries, core.keys);
  const double heads = static_cast<double>(core.count) * static_cast<double>(core.queries);
  if (layout.attention == AttentionKernel::kMaterialised) {
    double bytes = scores * b.width();                     // softmax
    if (model.dropout) bytes += scores * (1 + b.width());  // mask and what it leaves
    b.keep(bytes);
    b.work().kept_scores += bytes;
  } else {
    b.keep(heads * 4);  // log-sum-exp of each row
  }
  b.work().attention.push_back(core);
  if (layout.cp > 1) {  // keys and values go around the ring, gradients back
    const double bytes =
        product(b.tokens(), kv_heads_of(a, layout.tp) * (a.head_dim + a.value_dim)) * b.width() *
        static_cast<double>(layout.cp);
    b.work().forward_transfers.push_back({Transfer::kAllGather, Axis::kContext, bytes});
    b.work().backward_transfers.push_back({Transfer::kAllGather, Axis::kContext, bytes});
    b.work().backward_transfers.push_back({Transfer::kReduceScatter, Axis::kContext, bytes});
  }
}

// Dense, or all shared experts together.
void add_block(Builder& b, const Model& model, const FeedForward& f, std::int64_t width,
               const Layout& layout) {
  const std::int64_t t = b.tokens(), columns = width / layout.tp;
  b.matmul(t, model.hidden, columns * (f.gated ? 2 : 1), Part::kFeedForward);
  b.matmul(t, columns, model.hidden, Part::kFeedForward);
  b.pass(product(t, columns), f.gated ? 2 : 1, 1, f.gated ? 2 : 1, 1, Part::kFeedForward,
         f.gated ? 4 : 2);
  b.keep_tensor(product(t, columns) * (f.gated ? 3 : 2));
}

void add_experts(Builder& b, const Model& model, const FeedForward& f, const Layout& layout) {
  const std::int64_t t = b.tokens(), columns = f.width / layout.tp;
  b.matmul(t, model.hidden, f.experts, Part::kRouter);
  b.pass(product(t, f.experts), 1, 1, 3, 1, Part::kRouter, 3);
  b.keep_tensor(product(t, f.experts));
  // Balanced: every expert gets its share of the tokens of the ranks that it serves.
  const std::int64_t local = f.experts / layout.ep;
  const std::int64_t routed = t * f.chosen;
  const std::int64_t each = std::max<std::int64_t>(1, (routed + local - 1) / local);
  b.matmul(each, model.hidden, columns * (f.gated ? 2 : 1), Part::kExperts, local);
  b.matmul(each, columns, model.hidden, Part::kExperts, local);
  b.pass(product(routed, columns), f.gated ? 2 : 1, 1, f.gated ? 2 : 1, 1, Part::kExperts,
         f.gated ? 4 : 2);
  b.pass(product(routed, model.hidden), 1, 1, 1, 0, Part::kExperts, 1);  // to the experts
  b.pass(product(routed, model.hidden), 1, 1, 2, 0, Part::kExperts, 2);  // and back, weighted
  b.keep_tensor(product(routed, columns) * (f.gated ? 3 : 2) + 2 * product(routed, model.hidden));
  if (layout.ep > 1) {
    const double bytes = product(routed, model.hidden) * b.width();
    for (int i = 0; i < 2; ++i) {
      b.work().forward_transfers.push_back({Transfer::kAllToAll, Axis::kExpert, bytes});
      b.work().backward_transfers.push_back({Transfer::kAllToAll, Axis::kExpert, bytes});
    }
  }
}

}  // namespace

std::string_view name(Part part) {
  static constexpr std::string_view kNames[] = {"projections", "attention", "feed-forward",
                                                "experts",     "router",    "norms",
                                                "embedding",   "head"};
  return kNames[static_cast<int>(part)];
}

std::string_view name(Axis axis) {
  static constexpr std::string_view kNames[] = {"tensor", "context", "expert", "data", "pipeline"};
  return kNames[static_cast<int>(axis)];
}

double AttentionWork::share() const {
  const auto n = static_cast<double>(keys);
  double share = causal ? 0.5 : 1;
  if (window > 0 && window < keys) {
    const auto w = static_cast<double>(window);
    share = causal ? (w * n - w * w / 2) / (n * n) : std::min(1.0, 2 * w / n);
  }
  return share;
}

double AttentionWork::flops() const {
  return 2 * share() * static_cast<double>(count) * product(queries, keys) *
         static_cast<double>(head_dim + value_dim);
}

double Work::flops() const {
  double sum = 0;
  for (const Matmul& matmul : matmuls) sum += matmul.flops();
  for (const AttentionWork& core : attention) sum += core.flops();
  return sum;
}

Work layer_work(const Model& model, const Layer& layer, const Layout& layout) {
  Builder b(model, layout);
  const FeedForward& f = layer.feed_forward;
  b.work().input = b.residual() * b.width();
  for (int i = 0; i < layer.norms; ++i) b.norm();
  add_projections(b, model, layer.attention, layout);
  add_attention(b, model, layer.attention, layout);
  b.residual_add();
  b.tensor_transfers();
  if (layer.cross) {
    add_projections(b, model, *layer.cross, layout);
    add_attention(b, model, *layer.cross, layout);
    b.residual_add();
    b.tensor_transfers();
  }
  b.keep_tensor(b.residual());  // the input of the feed-forward part
  if (f.sparse()) add_experts(b, model, f, layout);
  if (!f.sparse() || f.shared_width > 0)
    add_block(b, model, f, f.sparse() ? f.shared_width : f.width, layout);
  b.residual_add();
  b.tensor_transfers();
  return b.take();
}

Work embedding_work(const Model& model, const Layout& layout) {
  Builder b(model, layout);
  b.pass(b.residual(), 1, 1, 1, 0, Part::kEmbedding, 1);
  if (model.patch_values > 0)
    b.matmul(b.tokens(), model.patch_values, model.hidden, Part::kEmbedding);
  if (model.dropout) b.keep(b.residual());
  return b.take();
}

Work head_work(const Model& model, const Layout& layout) {
  Builder b(model, layout);
  if (model.final_norm) b.norm();
  if (model.vocabulary == 0) return b.take();
  if (model.head_dense) b.matmul(b.tokens(), model.hidden, model.hidden, Part::kHead);
  const std::int64_t columns = (model.vocabulary + layout.tp - 1) / layout.tp;
  b.matmul(b.tokens(), model.hidden, columns, Part::kHead);
  b.pass(product(b.tokens(), columns), 1, 1, 3, 1, Part::kHead, 2);  // softmax and loss in fp32
  b.keep(product(b.tokens(), columns) * 4);
  b.keep_tensor(b.residual());
  b.tensor_transfers();
  return b.take();
}

}  // namespace trnsim::fleet
