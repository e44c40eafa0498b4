// Where the time went: every picosecond of the latency under exactly one cause of the list.
#include "report/losses.h"

#include <gmock/gmock.h>

#include <set>

#include "examples.h"

namespace trnsim::report {
namespace {

Losses losses_of(Scene& scene) {
  const report::Run run = run_of(scene);
  return losses({&run, 1}, critical_path(run));
}

Picoseconds of(const Losses& losses, Loss loss) { return losses[static_cast<std::size_t>(loss)]; }

TEST(Losses, add_up_to_the_latency_and_the_launch_of_any_program) {
  for (const char* chip : {"inferentia1", "trainium1", "trainium2", "trainium3"}) {
    for (unsigned seed = 0; seed < 25; ++seed) {
      Scene scene(chip);
      if (std::string_view(chip) == "inferentia1") {
        for (int i = 0; i < 20; ++i) scene.copy(sbuf(2048 * i, 512), sbuf(2048 * (i / 2), 512));
      } else {
        jumble(scene, seed, 80);
      }
      Picoseconds sum;
      for (const Picoseconds time : losses_of(scene)) sum += time;
      EXPECT_EQ(sum.count, scene.timeline().total.count + scene.timeline().launch.count);
    }
  }
}

TEST(Losses, have_names_of_their_own) {
  std::set<std::string_view> names;
  for (int i = 0; i < kLossCount; ++i) names.insert(loss_name(static_cast<Loss>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kLossCount));
}

TEST(Losses, tell_copies_out_of_psum_from_other_work) {
  Scene scene;
  scene.copy(sbuf(0, 512), psum(0, 512));
  scene.copy(sbuf(8192, 512), sbuf(0, 512));
  scene.activate(sbuf(16384, 512), psum(0, 512), numerics::ActivationFunction::kCopy);
  scene.activate(sbuf(32768, 512), psum(0, 512), numerics::ActivationFunction::kExp);
  const auto evicts = [&](std::size_t i) {
    return evicts_psum(scene.program.type(scene.program[i]), scene.program.args(scene.program[i]));
  };
  EXPECT_TRUE(evicts(0));
  EXPECT_FALSE(evicts(1));
  EXPECT_TRUE(evicts(2));
  EXPECT_FALSE(evicts(3));  // it computes on the way
  EXPECT_GT(of(losses_of(scene), Loss::kPsumEvictions).count, 0);
}

TEST(Losses, put_work_that_holds_a_shared_port_down_to_the_port) {
  Scene scene("trainium1");
  scene.copy(sbuf(0, 2048), sbuf(16384, 2048), timing::Engine::kGpsimd);
  scene.copy(sbuf(32768, 2048), sbuf(49152, 2048));
  const Losses losses = losses_of(scene);
  const timing::Entry& holder = scene.at(1);  // GpSimd waits for it
  EXPECT_EQ(of(losses, Loss::kPortConflict).count, (holder.busy_end - holder.start).count);
  EXPECT_EQ(of(losses, Loss::kVectorEngine).count, 0);
  EXPECT_GT(of(losses, Loss::kGpsimdEngine).count, 0);
}

TEST(Losses, name_the_memory_where_it_decides_the_end_of_a_transfer) {
  Scene fast, slow;
  slow.chip.hbm.bandwidth.value = 1;
  for (Scene* scene : {&fast, &slow}) scene->dma(sbuf(0, 4096), scene->hbm(128, 4096));
  EXPECT_EQ(of(losses_of(fast), Loss::kHbmBandwidth).count, 0);
  EXPECT_GT(of(losses_of(fast), Loss::kDmaBandwidth).count, 0);
  EXPECT_GT(of(losses_of(slow), Loss::kHbmBandwidth).count, 0);
  EXPECT_EQ(of(losses_of(slow), Loss::kDmaBandwidth).count, 0);
}

}  // namespace
}  // namespace trnsim::report
