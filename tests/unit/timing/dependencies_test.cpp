// The dependencies of random programs against the definition: two accesses to one byte, one of them
// a write.
#include <bitset>
#include <random>

#include "scene.h"
#include "timing/hazards.h"

namespace trnsim::timing {
namespace {

constexpr int kLength = 120;

// Tiles of all kinds on few bytes: dense and strided, whole and partial partitions, rows and
// columns of HBM tensors.
class Tiles {
 public:
  Tiles(Scene& scene, unsigned seed) : random_(seed), far_(scene.hbm(64, 64)) {}

  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  Tile on_chip() {
    Tile t = sbuf(4 * pick(256), static_cast<int>(1 + pick(64)));
    if (pick(3) == 0) {
      t.start_partition = static_cast<std::uint16_t>(32 * pick(4));
      t.sizes[0] = 32;
    }
    return pick(3) == 0 ? strided(t, static_cast<int>(2 + pick(3))) : t;
  }

  Tile far() {
    Tile t = far_;
    const auto row = static_cast<int>(pick(56)), column = static_cast<int>(pick(56));
    t.sizes = {static_cast<std::int32_t>(1 + pick(8)),
               pick(2) ? 64 : static_cast<std::int32_t>(1 + pick(8))};
    t.offset = row * t.strides[0] + (t.sizes[1] == 64 ? 0 : column) * t.strides[1];
    return t;
  }

 private:
  std::mt19937 random_;
  Tile far_;
};

void issue(Scene& scene, Tiles& tiles) {
  switch (tiles.pick(4)) {
    case 0:
      scene.dma(tiles.on_chip(), tiles.far());
      break;
    case 1:
      scene.dma(tiles.far(), tiles.on_chip());
      break;
    case 2:
      scene.copy(tiles.on_chip(), tiles.on_chip(), Engine::kGpsimd);
      break;
    default:
      scene.copy(tiles.on_chip(), tiles.on_chip());
  }
}

bool conflict(const program::Program& program, std::size_t a, std::size_t b) {
  bool found = false;
  const auto each = [&](std::size_t i, auto&& fn) {
    isa::for_each_tile(program.type(program[i]), program.args(program[i]), fn);
  };
  each(a, [&](const isa::FieldInfo& fa, const Tile& ta) {
    each(b, [&](const isa::FieldInfo& fb, const Tile& tb) {
      const bool writes = fa.access == isa::Access::kWrite || fb.access == isa::Access::kWrite;
      found = found || (writes && memory::overlaps(ta, tb));
    });
  });
  return found;
}

TEST(Dependencies, order_every_conflict_and_nothing_else) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Scene scene;
    Tiles tiles(scene, seed);
    for (int i = 0; i < kLength; ++i) issue(scene, tiles);
    const Dependencies dependencies(scene.program);
    std::vector<std::bitset<kLength>> before(kLength);  // all that must come first, directly or not
    for (std::size_t i = 0; i < kLength; ++i) {
      for (const Dependency& dependency : dependencies.of(i)) {
        ASSERT_LT(dependency.on, i);
        EXPECT_TRUE(conflict(scene.program, dependency.on, i)) << dependency.on << " and " << i;
        before[i] |= before[dependency.on];
        before[i].set(dependency.on);
      }
      for (std::size_t k = 0; k < i; ++k) {
        if (dependencies.queue(k) != dependencies.queue(i)) continue;
        before[i] |= before[k];
        before[i].set(k);
      }
      for (std::size_t k = 0; k < i; ++k) {
        EXPECT_TRUE(before[i].test(k) || !conflict(scene.program, k, i)) << k << " and " << i;
      }
    }
  }
}

TEST(Dependencies, too_many_strided_accesses_to_list_are_still_waited_for) {
  Scene scene;
  std::vector<std::uint32_t> writers;
  // Pairs of elements far apart: none covers another, all lie in one stretch.
  for (int i = 0; i < 300; ++i) {
    Tile pair = strided(sbuf(4 * i, 2), 1000);
    writers.push_back(scene.copy(pair, sbuf(65536, 2), i % 2 ? Engine::kVector : Engine::kGpsimd));
  }
  const auto reader = scene.copy(sbuf(131072, 1), sbuf(4 * 10, 1), Engine::kScalar);
  EXPECT_GE(scene.at(reader).start.count, (scene.at(writers[10]).end + scene.semaphore()).count);
}

}  // namespace
}  // namespace trnsim::timing
