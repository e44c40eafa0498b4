// Bytes of device memory that one rank needs, by kind.
#pragma once

#include <cstdint>

#include "fleet/work.h"

namespace trnsim::fleet {

struct Memory {
  double weights = 0, gradients = 0, states = 0;
  double activations = 0;  // kept by layers for the backward pass, of the micro-batches in flight
  double working = 0;      // the layer that is being recomputed, gathered inputs, embedding, logits
  double reserved = 0;     // the device's own: microcode, runtime, communication buffers
  double total() const { return weights + gradients + states + activations + working + reserved; }
};

// Parameters that one rank holds, split by how ZeRO may divide them: experts are replicated over
// fewer ranks than the rest.
struct Held {
  double shared = 0, experts = 0;
};
Held held(const Layer& layer, const Model& model, const Layout& layout);
// Embedding on the first stage, head and final norm on the last.
Held held_outside_layers(const Model& model, const Layout& layout, std::int64_t stage);

// Bytes that one layer keeps for one micro-batch, as the layout recomputes.
double kept_by(const Work& work, const Layout& layout);

// Micro-batches whose activations a stage holds at once, in units of its whole set of layers.
double in_flight(const Layout& layout, std::int64_t stage);

// What one stage holds, for one micro-batch.
struct StageContents {
  std::int64_t stage = 0;
  Held params;
  double kept = 0;     // by all its layers
  double dropped = 0;  // of the layer that drops most: it comes back while it is recomputed
  double widest = 0;   // parameters of its largest layer, on one rank
  double embedding = 0, head = 0;  // bytes kept by these
};
Memory memory_of(const StageContents& contents, const Model& model, const Layout& layout,
                 double reserved_bytes);

}  // namespace trnsim::fleet
