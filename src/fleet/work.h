// What a layer, the embedding and the head make a rank do for one micro-batch: matrix products,
// passes over tensors, attention, and transfers, with what they leave in memory for the backward
// pass. Which machine does it, and how fast, is not known here.
//
// What a layer keeps follows Korthikanti et al., arXiv 2205.05198, section 4, tensor by tensor.
#pragma once

#include <cstdint>
#include <vector>

#include "fleet/layout.h"

namespace trnsim::fleet {

enum class Part : std::uint8_t {
  kProjections,  // of attention
  kAttention,    // scores, softmax, values
  kFeedForward,
  kExperts,
  kRouter,
  kNorms,  // norms, residuals, dropout
  kEmbedding,
  kHead,  // logits and loss
};
inline constexpr int kPartCount = 8;
std::string_view name(Part part);

struct Matmul {
  std::int64_t m = 0, k = 0, n = 0, count = 1;
  Part part = Part::kProjections;
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n) *
           static_cast<double>(count);
  }
};

// One fused operator over `elements`: tensors that come from memory and go back to it, and how many
// times an engine goes over the elements (transcendental functions on their own).
struct Pass {
  double elements = 0;
  double bytes_in = 0, bytes_out = 0;  // per element
  int arithmetic = 1, functions = 0;
  Part part = Part::kNorms;
};

struct AttentionWork {
  std::int64_t count = 0;              // sequences times heads
  std::int64_t queries = 0, keys = 0;  // of this rank; of the whole sequence
  std::int64_t head_dim = 0, value_dim = 0;
  bool causal = true, dropout = false;
  std::int64_t window = 0;

  // The share of query-key pairs that are computed.
  double share() const;
  double flops() const;  // forward
};

enum class Transfer : std::uint8_t { kAllReduce, kAllGather, kReduceScatter, kAllToAll, kSend };
enum class Axis : std::uint8_t { kTensor, kContext, kExpert, kData, kPipeline };
std::string_view name(Axis axis);

struct Communication {
  Transfer transfer = Transfer::kAllReduce;
  Axis axis = Axis::kTensor;
  double bytes = 0;  // of the larger of source and destination of one rank
};

// One direction's worth of everything. Backward products follow from forward ones.
struct Work {
  std::vector<Matmul> matmuls;
  std::vector<Pass> forward, backward;
  std::vector<AttentionWork> attention;
  std::vector<Communication> forward_transfers, backward_transfers;
  double kept = 0;         // bytes for the backward pass, nothing recomputed
  double kept_scores = 0;  // of these, what selective recomputation drops
  double input = 0;        // bytes of the layer's input: what full recomputation keeps
  double flops() const;    // of the model, forward; attention as needed, not as padded
};

Work layer_work(const Model& model, const Layer& layer, const Layout& layout);
Work embedding_work(const Model& model, const Layout& layout);
Work head_work(const Model& model, const Layout& layout);

}  // namespace trnsim::fleet
