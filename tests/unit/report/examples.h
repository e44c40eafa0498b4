// Small programs that the tests report on.
#pragma once

#include <random>
#include <vector>

#include "report/run.h"
#include "unit/timing/scene.h"

namespace trnsim::report {

using timing::psum;
using timing::sbuf;
using timing::Scene;

inline Run run_of(Scene& scene, std::string kernel = "kernel", int core = 0) {
  return {std::move(kernel), &scene.program, &scene.timeline(), &scene.chip, core};
}

// A load, a matmul, an activation out of PSUM and a store, each waiting for the one before.
inline void load_multiply_store(Scene& scene) {
  const isa::Tile result = scene.hbm(128, 512);
  scene.dma(sbuf(0, 512), scene.hbm(128, 512));
  scene.matmul(psum(0, 512), sbuf(32768, 128), sbuf(0, 512));
  scene.activate(sbuf(65536, 512), psum(0, 512), numerics::ActivationFunction::kExp);
  scene.dma(result, sbuf(65536, 512));
}

// Instructions of all engines on overlapping places, the same for a seed on every host.
inline void jumble(Scene& scene, unsigned seed, int count) {
  std::mt19937 random(seed);
  const auto pick = [&](std::uint32_t n) { return static_cast<int>(random() % n); };
  const isa::Tile far = scene.hbm(128, 512);
  for (int i = 0; i < count; ++i) {
    const isa::Tile a = sbuf(2048 * pick(8), 512), b = sbuf(2048 * pick(8) + 1024, 512);
    switch (pick(6)) {
      case 0:
        scene.dma(a, far);
        break;
      case 1:
        scene.dma(far, a);
        break;
      case 2:
        scene.matmul(psum(2048 * pick(4), 512), sbuf(32768, 128), a);
        break;
      case 3:
        scene.copy(a, b, timing::Engine::kGpsimd);
        break;
      case 4:
        scene.copy(a, psum(2048 * pick(4), 512));
        break;
      default:
        scene.activate(
            a, b,
            pick(2) ? numerics::ActivationFunction::kExp : numerics::ActivationFunction::kSigmoid);
    }
  }
}

}  // namespace trnsim::report
