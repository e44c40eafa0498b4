// Which algorithm is chosen where, what can be forced, and what is refused.
#include "fabric/plan.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "topologies.h"

namespace trnsim::fabric {
namespace {

std::string chosen(const std::string& on, Collective collective, std::int64_t ranks,
                   std::int64_t bytes, std::string forced = {}) {
  const Topology topology = known(on);
  return make_plan(topology, request(collective, ranks, bytes, std::move(forced))).algorithm;
}

constexpr std::int64_t kMega = 1'000'000;

TEST(Choice, follows_the_documented_sizes_within_an_instance) {
  const auto all_reduce = [](std::int64_t bytes) {
    return chosen("trn2.48xlarge", Collective::kAllReduce, 64, bytes);
  };
  EXPECT_EQ(all_reduce(1024), "single_step_mesh");
  EXPECT_EQ(all_reduce(kMega - 1), "mesh");
  EXPECT_EQ(all_reduce(kMega), "rdh");
  EXPECT_EQ(all_reduce(56 * kMega - 1), "rdh");
  EXPECT_EQ(all_reduce(56 * kMega), "kangaring");
  EXPECT_EQ(chosen("trn2.48xlarge", Collective::kAllGather, 64, 64 << 20), "rdh");
  EXPECT_EQ(chosen("trn2.48xlarge", Collective::kAllGather, 64, 128 << 20), "kangaring");
}

TEST(Choice, takes_a_plain_ring_where_pairs_do_not_fit) {
  const Topology topology = known("trn2.48xlarge");
  Request one_per_chip = request(Collective::kAllReduce, 16, 1 << 28);
  for (int chip = 0; chip < 16; ++chip) one_per_chip.ranks.push_back(4 * chip);
  EXPECT_EQ(make_plan(topology, one_per_chip).algorithm, "ring");
  EXPECT_EQ(chosen("trn2.48xlarge", Collective::kAllReduce, 4, 1 << 28), "ring");
}

TEST(Choice, is_hierarchical_between_instances) {
  EXPECT_EQ(chosen("trn2.48xlarge:16", Collective::kAllReduce, 1024, 1 << 28), "kangaring+rdh");
  EXPECT_EQ(chosen("trn2.48xlarge:3", Collective::kAllReduce, 192, 1 << 28), "kangaring+ring");
  EXPECT_EQ(chosen("trn2.48xlarge:2", Collective::kAllReduce, 128, 1024), "mesh+direct");
  EXPECT_EQ(chosen("trn2-ultraserver:2", Collective::kAllReduce, 512, 1 << 28),
            "kangaring+ring+ring");
}

TEST(Choice, sends_large_messages_of_trn1_in_one_ring_through_all_instances) {
  EXPECT_EQ(chosen("trn1.32xlarge:2", Collective::kAllReduce, 64, 1 << 28), "ring");
  EXPECT_EQ(chosen("trn1.32xlarge:2", Collective::kAllReduce, 64, 1 << 22), "rdh+rdh");
}

TEST(Choice, can_be_forced) {
  for (const char* name : {"mesh", "rdh", "kangaring", "ring", "single_step_mesh"})
    EXPECT_EQ(chosen("trn2.48xlarge", Collective::kAllReduce, 64, 1 << 20, name), name);
  EXPECT_EQ(chosen("trn2.48xlarge:4", Collective::kAllReduce, 256, 1 << 20, "kangaring+mesh"),
            "kangaring+direct");
}

TEST(Choice, of_what_does_not_exist_or_does_not_fit_is_refused) {
  const auto fault = [](const std::string& on, std::int64_t ranks, const std::string& forced,
                        Collective collective = Collective::kAllReduce) {
    try {
      chosen(on, collective, ranks, 1 << 20, forced);
    } catch (const Error& error) {
      return error.fault();
    }
    return Fault::kInternal;
  };
  EXPECT_EQ(fault("trn2.48xlarge", 64, "kangarin"), Fault::kConfig);
  EXPECT_EQ(fault("trn2.48xlarge", 65, ""), Fault::kConfig);
  EXPECT_EQ(fault("trn2.48xlarge", 48, "rdh"), Fault::kUnsupported);  // twelve chips
  EXPECT_EQ(fault("trn2.48xlarge:3", 192, "kangaring+rdh"), Fault::kUnsupported);
  EXPECT_EQ(fault("trn2.48xlarge", 6, "kangaring"), Fault::kUnsupported);
  EXPECT_EQ(fault("inf1.24xlarge", 64, ""), Fault::kUnsupported);
  EXPECT_EQ(fault("inf1.24xlarge", 64, "", Collective::kPermute), Fault::kInternal);  // none
}

TEST(Plans, of_every_collective_and_topology_can_be_clocked) {
  for (const std::string& name : collective_names()) {
    const Collective collective = collective_from_name(name);
    for (const char* on :
         {"inf2.48xlarge", "inf2.24xlarge", "trn1.32xlarge", "trn1.32xlarge:2", "trn2.3xlarge",
          "trn2.48xlarge", "trn2-ultraserver", "trn3-gen1-ultraserver", "trn3-gen2-ultraserver",
          "trn3-gen2-ultraserver:2", "p5.48xlarge:2", "gb200-nvl72"}) {
      const Topology topology = known(on);
      if (collective == Collective::kAllToAll && topology.ranks() > 256)
        continue;  // a million sends
      for (const std::int64_t bytes : {0, 1, 3'000'001}) {
        const Cost cost = timed(topology, request(collective, topology.ranks(), bytes));
        EXPECT_GT(cost.time.count, 0) << name << " on " << on;
      }
    }
  }
}

TEST(Plans, of_any_number_of_ranks_can_be_clocked) {
  const Topology topology = known("trn2.48xlarge:2");
  for (int ranks = 1; ranks <= 128; ranks += ranks < 17 ? 1 : 7)
    for (const Collective collective : {Collective::kAllReduce, Collective::kAllGather})
      EXPECT_GT(timed(topology, request(collective, ranks, 100'000'007)).time.count, 0) << ranks;
}

TEST(Names, of_collectives_are_suggested) {
  EXPECT_THROW(collective_from_name("allreduce"), Error);
  for (const std::string& name : collective_names())
    EXPECT_EQ(collective_name(collective_from_name(name)), name);
}

}  // namespace
}  // namespace trnsim::fabric
