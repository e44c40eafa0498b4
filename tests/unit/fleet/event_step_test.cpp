// The event-level step against the closed form, and what a straggler does to it.
#include "fleet/event_step.h"

#include <gtest/gtest.h>

#include "fleet/presets.h"

namespace trnsim::fleet {
namespace {

struct Fleet {
  explicit Fleet(const char* on)
      : model(find_model("llama3-8b", "models")),
        machine(find_machine(on, catalog::load("hardware"))),
        evaluator(model, machine) {}
  Model model;
  Machine machine;
  Evaluator evaluator;
};

Layout pipelined(const Machine& machine, std::int64_t pp, std::int64_t batches) {
  Layout layout;
  layout.tp = 8;
  layout.sp = true;
  layout.pp = pp;
  layout.dp = machine.ranks() / (8 * pp);
  layout.global_batch = batches * layout.dp;
  layout.zero = 1;
  return layout;
}

TEST(EventStep, without_stragglers_it_takes_at_least_the_closed_form_and_little_more) {
  Fleet fleet("p5.48xlarge:16");
  for (const std::int64_t pp : {1, 2, 4, 8}) {
    const Layout layout = pipelined(fleet.machine, pp, 32);
    const EventStep events = event_step(fleet.evaluator, layout, {});
    const Step step = fleet.evaluator.step(layout);
    EXPECT_NEAR(events.seconds / step.seconds, 1, pp == 1 ? 1e-9 : 0.05) << pp;
    EXPECT_EQ(events.different, 1);
    EXPECT_EQ(events.events, 2 * 32 * pp);
  }
}

TEST(EventStep, a_straggler_on_the_only_stage_slows_the_whole_step_by_its_factor) {
  Fleet fleet("p5.48xlarge:16");
  const Layout layout = pipelined(fleet.machine, 1, 8);
  const EventStep even = event_step(fleet.evaluator, layout, {});
  const EventStep slow = event_step(fleet.evaluator, layout, {.count = 1, .slowdown = 1.5});
  const StageTime time = fleet.evaluator.stages(layout).front().time;
  EXPECT_NEAR(slow.seconds - even.seconds, 0.5 * 8 * time.total(), 1e-9);
  EXPECT_EQ(slow.different, 2);
}

TEST(EventStep, more_stragglers_never_make_it_faster_and_draws_repeat) {
  Fleet fleet("p5.48xlarge:64");
  const Layout layout = pipelined(fleet.machine, 4, 16);
  double before = 0;
  for (const std::int64_t count : {0, 1, 10, 100}) {
    const EventStep step = event_step(fleet.evaluator, layout, {.count = count});
    EXPECT_GE(step.seconds, before);
    EXPECT_EQ(step.seconds, event_step(fleet.evaluator, layout, {.count = count}).seconds);
    before = step.seconds;
  }
}

TEST(EventStep, half_a_million_chips_that_all_differ_are_clocked) {
  Fleet fleet("rainier:524288");
  const Layout layout = pipelined(fleet.machine, 8, 16);
  const EventStep step =
      event_step(fleet.evaluator, layout, {.count = 1000, .slowdown = 1.3, .jitter = 0.05});
  EXPECT_EQ(step.replicas, 524288 * 4 / 64);
  EXPECT_EQ(step.different, step.replicas + 1);  // and the even one
  EXPECT_GT(step.seconds, 1.2 * step.without_stragglers);
}

}  // namespace
}  // namespace trnsim::fleet
