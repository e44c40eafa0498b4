// Activation memory against the closed formulas of Korthikanti et al., arXiv 2205.05198, section 4.
#include "fleet/memory.h"

#include <gtest/gtest.h>

#include "fleet/presets.h"

namespace trnsim::fleet {
namespace {

Model megatron(const char* name) { return find_model(name, "models"); }

Layout materialised(std::int64_t tp, bool sp, Recompute recompute) {
  Layout layout;
  layout.tp = tp;
  layout.sp = sp;
  layout.recompute = recompute;
  layout.micro_batch = layout.global_batch = 4;
  layout.attention = AttentionKernel::kMaterialised;
  return layout;
}

struct Formula {
  bool sp;
  Recompute recompute;
  double (*of_sbh)(double t, double scores);  // scores = 5 a s / h
};

constexpr Formula kFormulas[] = {
    {false, Recompute::kNone, [](double t, double x) { return 10 + 24 / t + x / t; }},
    {true, Recompute::kNone, [](double t, double x) { return 34 / t + x / t; }},
    {false, Recompute::kSelective, [](double t, double) { return 10 + 24 / t; }},
    {true, Recompute::kSelective, [](double t, double) { return 34 / t; }},
    {false, Recompute::kFull, [](double, double) { return 2.0; }},
};

TEST(Memory, a_gpt_layer_keeps_what_the_published_formulas_say) {
  for (const char* name : {"megatron-22b", "turing-530b", "megatron-1t"}) {
    const Model model = megatron(name);
    for (const double tp : {1.0, 8.0}) {
      for (const Formula& formula : kFormulas) {
        const Layout layout =
            materialised(static_cast<std::int64_t>(tp), formula.sp, formula.recompute);
        const double h = static_cast<double>(model.hidden), s = 2048, b = 4;
        const double heads = static_cast<double>(model.layers[0].attention.heads);
        const double kept = kept_by(layer_work(model, model.layers[0], layout), layout);
        EXPECT_NEAR(kept / (s * b * h * formula.of_sbh(tp, 5 * heads * s / h)), 1, 1e-12)
            << name << " tp " << tp;
      }
    }
  }
}

TEST(Memory, the_first_stage_holds_as_many_micro_batches_as_there_are_stages) {
  Layout layout;
  layout.pp = 8;
  layout.global_batch = 64;
  EXPECT_EQ(in_flight(layout, 0), 8);
  EXPECT_EQ(in_flight(layout, 7), 1);
  layout.schedule = Schedule::kInterleaved;
  layout.chunks = 3;
  EXPECT_DOUBLE_EQ(in_flight(layout, 0), 8 + 7 / 3.0);
  layout.schedule = Schedule::kGpipe;
  EXPECT_EQ(in_flight(layout, 0), 64);
}

TEST(Memory, eighteen_bytes_of_a_parameter_become_six_and_a_share_under_zero_1) {
  const Model model = megatron("gpt3-6.7b");
  StageContents contents;
  contents.params.shared = 1000;
  Layout layout;
  layout.global_batch = layout.dp = 64;
  Memory memory = memory_of(contents, model, layout, 0);
  EXPECT_DOUBLE_EQ(memory.weights + memory.gradients + memory.states, 18000);
  layout.zero = 1;
  memory = memory_of(contents, model, layout, 0);
  EXPECT_DOUBLE_EQ(memory.weights + memory.gradients, 6000);
  EXPECT_DOUBLE_EQ(memory.states, 12000.0 / 64);
  layout.zero = 3;
  EXPECT_DOUBLE_EQ(memory_of(contents, model, layout, 0).weights, 2000.0 / 64);
}

TEST(Memory, stages_hold_all_parameters_and_tied_embeddings_twice) {
  for (const char* name : {"gpt3-6.7b", "llama3-8b", "bert-large-pretraining", "vit-base"}) {
    const Model model = megatron(name);
    Layout layout;
    layout.pp = 4;
    layout.global_batch = 8;
    double sum = 0;
    for (const Layer& layer : model.layers) sum += held(layer, model, layout).shared;
    for (std::int64_t stage = 0; stage < layout.pp; ++stage)
      sum += held_outside_layers(model, layout, stage).shared;
    double expected = static_cast<double>(parameters(model).total());
    if (model.tied) expected += static_cast<double>(model.vocabulary * model.hidden);
    EXPECT_NEAR(sum / expected, 1, 1e-3) << name;
  }
}

}  // namespace
}  // namespace trnsim::fleet
