// Tiles of the Tensor Engine's array: matmuls on different ones run side by side, as far as their
// moving data can enter; those on the same one take turns.
#include "timing/tensor_array.h"

#include <algorithm>
#include <vector>

#include "scene.h"

namespace trnsim::timing {
namespace {

isa::IntList pair(int a, int b) {
  isa::IntList list;
  list.values[0] = a;
  list.values[1] = b;
  list.size = 2;
  return list;
}

struct ArrayTile {
  int row, column, rows, columns;
};

// Matmuls of 512 moving columns on these tiles of the array, of a chip without a clock ramp, each
// with a result of its own.
std::vector<std::uint32_t> matmuls(Scene& scene, const std::vector<ArrayTile>& tiles) {
  scene.core().tensor.ramp.reset();
  std::vector<std::uint32_t> issued;
  for (const ArrayTile& at : tiles) {
    const Tile stationary =
        tile(memory::Space::kSbuf, 0, at.rows, at.columns, Dtype::kBfloat16, at.row);
    const Tile moving = tile(memory::Space::kSbuf, 4096, at.rows, 512, Dtype::kBfloat16, at.row);
    const auto bank = static_cast<std::int64_t>(issued.size() % 8) * 2048;
    const Tile dst = tile(memory::Space::kPsum, bank, at.columns, 512, Dtype::kFloat32, at.column);
    issued.push_back(scene.issue("nc_matmul", {{"dst", dst},
                                               {"stationary", stationary},
                                               {"moving", moving},
                                               {"tile_position", pair(at.row, at.column)},
                                               {"tile_size", pair(at.rows, at.columns)}}));
  }
  return issued;
}

Picoseconds columns(Scene& scene, double count) {
  return from_cycles(count, scene.core().tensor.clock);
}

TEST(TensorArray, groups_of_columns_take_turns_as_fast_as_their_moving_data_enter) {
  Scene scene;
  const auto issued =
      matmuls(scene, {{0, 0, 128, 32}, {0, 32, 128, 32}, {0, 64, 128, 32}, {0, 96, 128, 32}});
  const double rate = *scene.core().tensor.tiled_columns_per_cycle;
  for (std::size_t i = 1; i < issued.size(); ++i) {
    const std::int64_t apart = (scene.at(issued[i]).start - scene.at(issued[i - 1]).start).count;
    EXPECT_NEAR(static_cast<double>(apart), columns(scene, 512 / rate).ns() * 1000, 2);
    EXPECT_EQ(scene.at(issued[i]).wait, Wait::kEngine);
  }
  const Entry& last = scene.at(issued.back());  // its own columns still take a cycle each
  const Picoseconds fill = from_ns(scene.core().tensor.fill_latency);
  EXPECT_NEAR((last.end - last.start).ns(), (columns(scene, 512) + fill).ns(), 0.01);
}

TEST(TensorArray, groups_of_rows_share_what_enters_and_four_run_at_once) {
  Scene scene;
  const std::vector<ArrayTile> four{
      {0, 0, 32, 128}, {32, 0, 32, 128}, {64, 0, 32, 128}, {96, 0, 32, 128}};
  const auto issued = matmuls(scene, four);
  const double rate = *scene.core().tensor.tiled_columns_per_cycle;
  EXPECT_NEAR((scene.at(issued[3]).start - scene.at(issued[0]).start).ns(),
              columns(scene, 3 * 512 / 4.0 / rate).ns(), 0.01);
  EXPECT_LT(scene.at(issued[3]).start, scene.at(issued[0]).start + columns(scene, 512));
}

TEST(TensorArray, one_tile_is_taken_by_one_matmul_at_a_time) {
  Scene scene;
  const auto issued = matmuls(scene, {{0, 0, 32, 128}, {0, 0, 32, 128}});
  expect_start(scene, issued[1], scene.at(issued[0]).start + columns(scene, 512), Wait::kEngine,
               issued[0]);
}

TEST(TensorArray, the_whole_array_waits_for_every_tile) {
  Scene scene;
  const auto issued = matmuls(scene, {{0, 0, 32, 128}, {32, 0, 32, 128}, {0, 0, 128, 128}});
  expect_start(scene, issued[2], scene.at(issued[1]).start + columns(scene, 512), Wait::kEngine,
               issued[1]);
}

TEST(TensorArray, tiles_of_one_part_are_no_faster_than_the_whole_array) {
  Scene whole, tiled;
  const auto a = matmuls(whole, {{0, 0, 128, 128}, {0, 0, 128, 128}, {0, 0, 128, 128}});
  const auto b = matmuls(tiled, {{0, 0, 128, 32}, {0, 0, 128, 32}, {0, 0, 128, 32}});
  EXPECT_EQ(whole.at(a[2]).end.count, tiled.at(b[2]).end.count);
}

TEST(TensorArray, a_cold_array_runs_its_tiles_at_half_rate_too) {
  Scene cold;
  const auto ramp = cold.core().tensor.ramp;
  const auto issued = matmuls(cold, {{0, 0, 128, 32}, {0, 32, 128, 32}});
  cold.core().tensor.ramp = ramp;
  const double rate = *cold.core().tensor.tiled_columns_per_cycle;
  EXPECT_NEAR((cold.at(issued[1]).start - cold.at(issued[0]).start).ns(),
              columns(cold, 2 * 512 / rate).ns(), 0.01);
  const Picoseconds fill = from_ns(cold.core().tensor.fill_latency);
  EXPECT_NEAR((cold.at(issued[0]).end - cold.at(issued[0]).start - fill).ns(),
              columns(cold, 2 * 512).ns(), 0.01);
}

}  // namespace
}  // namespace trnsim::timing
