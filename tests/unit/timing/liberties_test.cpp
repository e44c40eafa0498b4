// What Beta 1's compiler leaves out, only what a loop's round before has made and is there still,
// and to which engine it gives what two can do.
#include "timing/liberties.h"

#include "scene.h"

namespace trnsim::timing {
namespace {

std::vector<std::uint32_t> found(const Scene& scene) {
  return stand_ins(scene.program, Dependencies(scene.program), scene.chip.core);
}

// A kernel of Beta 1 whose loops say where their rounds end.
class Looping : public Scene {
 public:
  Looping() : Scene("trainium1") { program.dialect = program::Dialect::kBeta1; }

  void begin_loop() {
    before_ = program::Round::kNone;
    first_ = program.size();
  }
  void end_round() {
    before_ = program.add_round({{first_, program.size()}, before_});
    first_ = program.size();
  }

 private:
  std::uint32_t before_ = program::Round::kNone;
  std::uint64_t first_ = 0;
};

TEST(Liberties, what_no_round_changes_is_made_in_the_first_one) {
  Looping scene;
  const Tile source = scene.hbm(128, 512);
  std::vector<std::uint32_t> loads, copies;
  scene.begin_loop();
  for (int round = 0; round < 3; ++round) {
    loads.push_back(scene.dma(sbuf(8192 * round, 512), source));
    copies.push_back(scene.copy(sbuf(8192 * round + 2048, 512), sbuf(8192 * round, 512)));
    scene.end_round();
  }
  EXPECT_EQ(found(scene),
            (std::vector<std::uint32_t>{kKept, kKept, loads[0], copies[0], loads[0], copies[0]}));
}

TEST(Liberties, without_a_loop_everything_is_made) {
  Looping scene;
  const Tile source = scene.hbm(128, 512);
  scene.dma(sbuf(0, 512), source);
  const auto again = scene.dma(sbuf(8192, 512), source);
  EXPECT_EQ(found(scene)[again], kKept);
}

TEST(Liberties, the_innermost_loop_counts) {
  Looping scene;  // for state: for tile: load[tile]
  const Tile tiles[2] = {scene.hbm(128, 512), scene.hbm(128, 512)};
  std::uint32_t outer = program::Round::kNone;
  for (int state = 0; state < 2; ++state) {
    const std::uint64_t first = scene.program.size();
    scene.begin_loop();
    for (int i = 0; i < 2; ++i) {
      scene.dma(sbuf(8192 * (2 * state + i), 512), tiles[i]);
      scene.end_round();
    }
    outer = scene.program.add_round({{first, scene.program.size()}, outer});
  }
  EXPECT_EQ(found(scene), std::vector<std::uint32_t>(4, kKept));
}

TEST(Liberties, what_differs_is_made) {
  Looping scene;
  const Tile source = scene.hbm(128, 512);
  scene.begin_loop();
  scene.dma(sbuf(0, 512), source);
  scene.copy(sbuf(2048, 512), sbuf(0, 512));
  scene.end_round();
  scene.dma(sbuf(8192, 512), scene.hbm(128, 512));
  const auto part = scene.copy(sbuf(24576, 256), sbuf(0, 256));
  scene.end_round();
  EXPECT_EQ(found(scene), std::vector<std::uint32_t>(4, kKept)) << part;
}

TEST(Liberties, a_load_after_a_store_to_its_source_is_made_again) {
  Looping scene;
  const Tile source = scene.hbm(128, 512);
  scene.begin_loop();
  scene.dma(sbuf(0, 512), source);
  scene.dma(source, sbuf(16384, 512));
  scene.end_round();
  const auto again = scene.dma(sbuf(8192, 512), source);
  scene.end_round();
  EXPECT_EQ(found(scene)[again], kKept);
}

TEST(Liberties, products_that_add_up_all_count) {
  Looping scene;
  const Tile a = sbuf(0, 128, 128, Dtype::kBfloat16), b = sbuf(4096, 512, 128, Dtype::kBfloat16);
  scene.begin_loop();
  scene.matmul(psum(0, 512), a, b);
  scene.end_round();
  const auto added = scene.matmul(psum(0, 512), a, b);
  scene.end_round();
  EXPECT_EQ(found(scene)[added], kKept);
}

TEST(Liberties, a_result_that_was_written_over_lives_on_where_the_kernel_leaves_room) {
  const auto second = [](std::int64_t bytes) {
    Looping scene;
    memory::Allocation all;
    all.id = 99;
    all.space = memory::Space::kSbuf;
    all.bytes = bytes;
    scene.program.tensor_born(all);
    const Tile source = scene.hbm(128, 512);
    scene.begin_loop();
    scene.dma(sbuf(0, 512), source);
    scene.copy(sbuf(0, 512), sbuf(4096, 512));
    scene.end_round();
    const auto again = scene.dma(sbuf(8192, 512), source);
    scene.end_round();
    return found(scene)[again];
  };
  const auto usable =
      static_cast<std::int64_t>(Scene("trainium1").core().sbuf.usable_bytes_per_partition);
  EXPECT_EQ(second(usable - 2048), 0u);
  EXPECT_EQ(second(usable - 2047), kKept);
}

TEST(Liberties, readers_of_what_is_left_out_wait_for_what_stands_in) {
  Looping scene;
  const Tile source = scene.hbm(128, 512);
  scene.begin_loop();
  const auto first = scene.dma(sbuf(0, 512), source);
  scene.end_round();
  const auto again = scene.dma(sbuf(8192, 512), source);
  const auto reader = scene.copy(sbuf(16384, 512), sbuf(8192, 512));
  scene.end_round();
  EXPECT_TRUE(scene.at(again).left_out);
  EXPECT_EQ(scene.at(again).start, scene.at(first).end);
  EXPECT_EQ(scene.at(again).end, scene.at(first).end);
  expect_start(scene, reader, scene.at(first).end, Wait::kData, first);
}

TEST(Liberties, an_open_copy_goes_to_the_engine_with_less_work) {
  Looping scene;
  scene.copy(sbuf(0, 512), sbuf(8192, 512), Engine::kVector);
  const auto open = scene.copy(sbuf(16384, 512), sbuf(24576, 512), Engine::kUnknown);
  const auto next = scene.copy(sbuf(32768, 512), sbuf(40960, 512), Engine::kUnknown);
  const auto queues = shared_out(scene.program, scene.chip.core);
  EXPECT_EQ(queues[0], Queue::kVector);
  EXPECT_EQ(queues[open], Queue::kScalar);
  // 512 / 1.12 GHz on Vector, 512 / 1.4 GHz on Scalar: a second one there comes after 914 ns.
  EXPECT_EQ(queues[next], Queue::kScalar);
  EXPECT_EQ(scene.at(open).queue, Queue::kScalar);
  EXPECT_EQ((scene.at(open).busy_end - scene.at(open).start).count, from_ns(512 / 1.4).count);
}

TEST(Liberties, integers_stay_on_vector) {
  Looping scene;
  scene.copy(sbuf(0, 512), sbuf(8192, 512), Engine::kVector);
  const auto open = scene.copy(sbuf(16384, 512, 128, Dtype::kInt32),
                               sbuf(24576, 512, 128, Dtype::kInt32), Engine::kUnknown);
  EXPECT_EQ(shared_out(scene.program, scene.chip.core)[open], Queue::kVector);
}

}  // namespace
}  // namespace trnsim::timing
