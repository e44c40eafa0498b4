// Folding changes how long clocking takes, never a picosecond of the result.
#include "fabric/fold.h"

#include <gtest/gtest.h>

#include "topologies.h"

namespace trnsim::fabric {
namespace {

void expect_equal(const Topology& topology, const Request& wanted, FoldKind kind) {
  const Cost folded = timed(topology, wanted), unfolded = timed(topology, wanted, false);
  EXPECT_EQ(folded.fold.kind, kind) << topology.name;
  EXPECT_EQ(folded.time.count, unfolded.time.count) << topology.name;
  if (kind != FoldKind::kNone) {
    EXPECT_LT(folded.transfers, unfolded.transfers);
  }
}

TEST(Folding, equals_4096_ranks_clocked_one_by_one) {
  const Topology topology = known("trn2.48xlarge:64");
  for (const std::int64_t bytes :
       {std::int64_t{1} << 18, std::int64_t{1} << 24, std::int64_t{1} << 28})
    expect_equal(topology, request(Collective::kAllReduce, 4096, bytes), FoldKind::kSystems);
}

TEST(Folding, equals_a_torus_of_4096_clocked_one_by_one) {
  const Topology torus = by_hand({ring(4, 3'000'000'000), ring(4, 2'000'000'000, 500), ring(256)});
  expect_equal(torus, request(Collective::kAllReduce, 4096, 1 << 20), FoldKind::kChips);
}

TEST(Folding, leaves_uneven_sizes_alone) {
  const Topology topology = known("trn2.48xlarge:64");
  expect_equal(topology, request(Collective::kAllReduce, 4096, (1 << 24) + 1), FoldKind::kNone);
}

TEST(Folding, leaves_systems_that_talk_to_a_broken_one_alone) {
  Topology topology = known("trn2.48xlarge:64");
  topology.down_links = {{17, 18}};
  expect_equal(topology, request(Collective::kAllReduce, 4096, 1 << 24), FoldKind::kNone);
}

TEST(Folding, of_groups_keeps_the_broken_system_apart) {
  Topology topology = known("trn2.48xlarge:16");
  topology.down_links = {{17, 18}, {18, 17}};
  Request wanted = request(Collective::kAllReduce, 64, 1 << 27);
  wanted.groups = 16;
  expect_equal(topology, wanted, FoldKind::kAlikeSystems);
  const Cost cost = timed(topology, wanted);
  EXPECT_EQ(cost.fold.representatives.size(), 128u);
  EXPECT_GT(cost.ends[64], cost.ends[0]);  // system 1 is the slow one
}

TEST(Folding, equals_on_switches_and_on_gpus) {
  for (const char* on : {"trn3-gen2-ultraserver:4", "p5.48xlarge:8", "trn1.32xlarge:4"}) {
    const Topology topology = known(on);
    const std::int64_t bytes = 2304 * 1024;
    expect_equal(topology, request(Collective::kReduceScatter, topology.ranks(), bytes),
                 FoldKind::kSystems);
  }
}

// Groups side by side, as those of data parallelism: `stride` of them across all systems.
Request side_by_side(Collective collective, const Topology& topology, std::int64_t stride,
                     std::int64_t bytes) {
  const std::int64_t per_system = topology.ranks_per_system(), part = per_system / stride;
  Request wanted = request(collective, part * topology.systems, bytes);
  wanted.groups = stride;
  for (std::int64_t group = 0; group < stride; ++group)
    for (std::int64_t i = 0; i < wanted.size; ++i)
      wanted.ranks.push_back(group + i % part * stride + i / part * per_system);
  return wanted;
}

TEST(Folding, equals_where_groups_lie_side_by_side) {
  for (const char* on : {"trn2.48xlarge:4", "trn2-ultraserver:2", "trn3-gen1-ultraserver:3",
                         "p5.48xlarge:8", "trn1.32xlarge:3", "trn1.32xlarge:8"}) {
    const Topology topology = known(on);
    for (const std::int64_t stride : {2, 4, 8}) {
      for (const std::int64_t bytes : {std::int64_t{3} << 16, std::int64_t{3} << 26}) {
        const std::int64_t even = topology.ranks() * 64;
        const std::int64_t cut = (bytes + even - 1) / even * even;
        expect_equal(topology, side_by_side(Collective::kAllReduce, topology, stride, cut),
                     FoldKind::kSystems);
      }
    }
    const std::int64_t exchanged = topology.ranks() * 1024;
    expect_equal(topology, side_by_side(Collective::kAllToAll, topology, 8, exchanged),
                 FoldKind::kSystems);
  }
}

TEST(Folding, leaves_groups_alone_that_hold_different_parts_of_systems) {
  const Topology topology = known("p5.48xlarge:2");
  Request wanted = request(Collective::kAllReduce, 4, 1 << 20);
  wanted.groups = 2;
  wanted.ranks = {0, 1, 8, 9, 2, 3, 10, 12};
  expect_equal(topology, wanted, FoldKind::kNone);
}

TEST(Folding, makes_a_million_chips_cheap) {
  const Topology topology = known("trn2-ultraserver:16384");
  EXPECT_EQ(topology.systems * topology.chips(), 1'048'576);
  const Cost cost =
      timed(topology, request(Collective::kAllReduce, topology.ranks(), std::int64_t{1} << 32));
  EXPECT_EQ(cost.fold.kind, FoldKind::kSystems);
  EXPECT_LT(cost.transfers, 1'000'000);
}

}  // namespace
}  // namespace trnsim::fabric
