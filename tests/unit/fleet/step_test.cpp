// The step time of eight published Megatron runs, and that its parts add up.
#include "fleet/step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "fleet/presets.h"

namespace trnsim::fleet {
namespace {

const catalog::Catalog& hardware() {
  static const catalog::Catalog kCatalog = catalog::load("hardware");
  return kCatalog;
}

double sum_of_parts(const Step& step) {
  return std::accumulate(step.compute.begin(), step.compute.end(), 0.0) +
         std::accumulate(step.exposed.begin(), step.exposed.end(), 0.0) + step.recompute +
         step.bubble + step.optimizer + step.input;
}

TEST(Step, parts_add_up_to_the_whole) {
  const Model model = find_model("llama3-8b", "models");
  for (const char* name : {"trn1.32xlarge:16", "trn2-ultraserver:2", "p5.48xlarge:16"}) {
    const Machine machine = find_machine(name, hardware());
    Layout layout;
    layout.tp = 8;
    layout.sp = true;
    layout.pp = 2;
    layout.dp = machine.ranks() / 16;
    layout.global_batch = 4 * layout.dp;
    for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
      layout.recompute = recompute;
      const Step step = Evaluator(model, machine).step(layout);
      EXPECT_NEAR(sum_of_parts(step) / step.seconds, 1, 1e-9) << name;
      EXPECT_GT(step.mfu, 0.03);  // four micro-batches of a gradient reduction over EFA
      EXPECT_LT(step.hfu, 1);
    }
  }
}

}  // namespace
}  // namespace trnsim::fleet
