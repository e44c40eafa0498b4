// Seconds of a piece of work on one rank of a machine.
#pragma once

#include "fleet/step.h"

namespace trnsim::fleet {

StageTime time_of(const Work& work, const Layout& layout, const Machine& machine, bool recomputed);

// What one micro-batch sends to the next stage and gets back.
double hand_over(const Model& model, const Layout& layout, const Machine& machine);

// Gradients are reduced, and with ZeRO updated weights are gathered, once per step.
struct Synchronisation {
  double gradients = 0, weights = 0;
};
Synchronisation synchronise(const Layout& layout, const Machine& machine, const Held& params);

double optimizer_time(const Layout& layout, const Machine& machine, const Held& params);

// With ZeRO-3 the weights of a layer are gathered for each pass, while the layer before computes:
// what is not hidden.
double gathered_weights(const Layout& layout, const Machine& machine, const Held& params,
                        double compute);

}  // namespace trnsim::fleet
