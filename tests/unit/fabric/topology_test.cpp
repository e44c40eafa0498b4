// Shapes out of the catalogue, routes, and what happens to them where something is down.
#include "fabric/topology.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "topologies.h"

namespace trnsim::fabric {
namespace {

std::vector<std::string> names(Router& router, std::int64_t from, std::int64_t to) {
  std::vector<std::string> way;
  for (const std::int64_t link : router.route(from, to).links)
    way.push_back(router.resources().name(link));
  return way;
}

TEST(Topologies, have_the_chips_ranks_and_links_that_are_published) {
  struct Known {
    const char* name;
    int chips, ranks;
    double each_way;  // GB/s of the innermost links
  };
  for (const Known& k : {Known{"inf1.24xlarge", 16, 64, 8.589934592},
                         {"inf2.48xlarge", 12, 24, 51.539607552},
                         {"trn1.32xlarge", 16, 32, 48},
                         {"trn1n.32xlarge", 16, 32, 96},
                         {"trn2.48xlarge", 16, 64, 128},
                         {"trn2-ultraserver", 64, 256, 128},
                         {"trn3-gen1-ultraserver", 64, 256, 256},
                         {"trn3-gen2-ultraserver", 144, 576, 256},
                         {"p5.48xlarge", 8, 8, 346.5},
                         {"gb200-nvl72", 72, 72, 693}}) {
    const Topology topology = known(k.name);
    EXPECT_EQ(topology.chips(), k.chips) << k.name;
    EXPECT_EQ(topology.ranks(), k.ranks) << k.name;
    EXPECT_NEAR(static_cast<double>(topology.axes[0].each_way) * 1e-9, k.each_way, 1e-6) << k.name;
  }
}

TEST(Topologies, every_instance_of_several_chips_is_modelled_or_refused_by_name) {
  for (const catalog::Instance& instance : hardware().instances) {
    try {
      EXPECT_EQ(known(instance.name).chips(), static_cast<int>(instance.accelerators));
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::kUnsupported) << error.what();
      EXPECT_NE(error.message().find(instance.name), std::string::npos) << error.what();
    }
  }
}

TEST(Topologies, cores_of_a_logical_core_decide_how_many_ranks_there_are) {
  EXPECT_EQ(find_topology("trn2.48xlarge", hardware(), 1).ranks(), 128);
  EXPECT_EQ(find_topology("trn2.48xlarge", hardware(), 2).ranks(), 64);
  EXPECT_THROW(find_topology("trn2.48xlarge", hardware(), 3), Error);
  EXPECT_THROW(find_topology("trn1.32xlarge", hardware(), 2), Error);
}

TEST(Topologies, several_instances_need_a_network) {
  EXPECT_EQ(known("trn2.48xlarge:4").ranks(), 256);
  EXPECT_EQ(known("project-rainier").systems, 7812);
  for (const char* name :
       {"inf2.48xlarge:2", "trn2.48xlarge:0", "trn2.48xlarge:x", "trn9.48xlarge"})
    EXPECT_THROW(known(name), Error) << name;
}

TEST(Routes, go_the_outer_axis_first_and_the_shorter_way_round) {
  const Topology torus = known("trn2.48xlarge");
  Router router(torus);
  EXPECT_EQ(names(router, 0, 5), (std::vector<std::string>{"link 0 -> 4", "link 4 -> 5"}));
  EXPECT_EQ(names(router, 0, 3), (std::vector<std::string>{"link 0 -> 3"}));
  EXPECT_EQ(names(router, 0, 10), (std::vector<std::string>{"link 0 -> 4", "link 4 -> 8",
                                                            "link 8 -> 9", "link 9 -> 10"}));
  EXPECT_TRUE(names(router, 7, 7).empty());
}

TEST(Routes, of_a_chain_do_not_wrap) {
  const Topology chain = known("inf1.24xlarge");
  Router router(chain);
  EXPECT_EQ(router.route(0, 15).links.size(), 15u);
  EXPECT_EQ(router.route(15, 0).links.size(), 15u);
}

TEST(Routes, through_switches_follow_the_address) {
  const Topology gen2 = known("trn3-gen2-ultraserver");
  Router router(gen2);
  // chip 0 of server 0 of rack 0 to chip 1 of server 1 of rack 1
  EXPECT_EQ(names(router, 0, 72 + 4 + 1),
            (std::vector<std::string>{
                "switch 3 port of chip 0, outwards", "switch 3 port of chip 72, inwards",
                "switch 2 port of chip 72, outwards", "switch 2 port of chip 76, inwards",
                "switch 1 port of chip 76, outwards", "switch 1 port of chip 77, inwards"}));
}

TEST(Routes, between_instances_take_the_cards_of_both_chips) {
  const Topology two = known("trn2.48xlarge:2");
  Router router(two);
  EXPECT_EQ(names(router, 3, 16 + 5), (std::vector<std::string>{"card 3 of system 0, outwards",
                                                                "card 5 of system 1, inwards"}));
  EXPECT_EQ(router.route(3, 21).latency.us(), 15);
}

TEST(Routes, avoid_links_and_chips_that_are_down) {
  Topology torus = known("trn2.48xlarge");
  torus.down_links = {{0, 1}};
  Router around(torus);
  EXPECT_EQ(around.route(0, 1).links.size(), 3u);  // 0 -> 3 -> 2 -> 1, or by another row
  EXPECT_EQ(names(around, 1, 0), (std::vector<std::string>{"link 1 -> 0"}));
  torus.down_links.clear();
  torus.down_chips = {1};
  Router past(torus);
  for (const std::string& link : names(past, 0, 2)) {
    EXPECT_EQ(link.find(" 1 "), std::string::npos) << link;
    EXPECT_FALSE(link.ends_with("> 1")) << link;
  }
}

TEST(Routes, that_nothing_up_can_serve_are_refused_with_both_chips) {
  Topology chain = known("inf1.6xlarge");
  chain.down_links = {{1, 2}};
  Router router(chain);
  try {
    router.route(0, 3);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("from chip 0 to chip 3"), std::string::npos) << error.what();
  }
  chain.down_chips = {3};
  Router without(chain);
  EXPECT_THROW(without.route(0, 3), Error);
}

}  // namespace
}  // namespace trnsim::fabric
