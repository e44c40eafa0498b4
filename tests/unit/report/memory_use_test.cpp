// Memory in use: what overlaps counts once, what is freed counts no more.
#include "report/memory_use.h"

#include "examples.h"

namespace trnsim::report {
namespace {

void born(Scene& scene, std::uint32_t id, memory::Space space, std::int64_t offset,
          std::int64_t bytes) {
  memory::Allocation allocation;
  allocation.id = id;
  allocation.space = space;
  allocation.partitions = 128;
  allocation.offset = offset;
  allocation.bytes = bytes;
  scene.program.tensor_born(allocation);
}

TEST(Coverage, overlapping_tensors_count_once) {
  Coverage coverage;
  coverage.add(0, 100);
  coverage.add(50, 100);
  EXPECT_EQ(coverage.bytes(), 150);
  coverage.remove(0, 100);
  EXPECT_EQ(coverage.bytes(), 100);
  coverage.add(50, 100);
  coverage.remove(50, 100);
  EXPECT_EQ(coverage.bytes(), 100);
  coverage.remove(50, 100);
  EXPECT_EQ(coverage.bytes(), 0);
}

TEST(PeakUse, counts_what_lives_together) {
  Scene scene;
  born(scene, 1, memory::Space::kSbuf, 0, 1000);
  scene.copy(sbuf(0, 8), sbuf(0, 8));
  scene.program.tensor_freed(1);
  born(scene, 2, memory::Space::kSbuf, 4096, 600);
  born(scene, 3, memory::Space::kSbuf, 8192, 600);
  born(scene, 4, memory::Space::kPsum, 0, 2048);
  scene.copy(sbuf(0, 8), sbuf(0, 8));
  EXPECT_EQ(peak_use(scene.program, memory::Space::kSbuf), 1200);
  EXPECT_EQ(peak_use(scene.program, memory::Space::kPsum), 2048);
}

TEST(UseOverTime, lasts_from_the_first_touch_to_the_last_result) {
  Scene scene;
  born(scene, 101, memory::Space::kSbuf, 0, 2048);
  isa::Tile tile = sbuf(0, 512);
  tile.tensor = 101;
  scene.copy(sbuf(65536, 512), sbuf(32768, 512));  // of no tensor
  const auto first = scene.copy(tile, sbuf(32768, 512));
  const auto last = scene.copy(sbuf(65536, 512), tile, timing::Engine::kScalar);
  const std::vector<Use> use = use_over_time(run_of(scene), memory::Space::kSbuf);
  ASSERT_EQ(use.size(), 2u);
  EXPECT_EQ(use[0].at.count, scene.at(first).start.count);
  EXPECT_EQ(use[0].bytes, 2048);
  EXPECT_EQ(use[1].at.count, scene.at(last).end.count);
  EXPECT_EQ(use[1].bytes, 0);
}

}  // namespace
}  // namespace trnsim::report
