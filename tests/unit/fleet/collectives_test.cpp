// What the planner takes for a collective is what the fabric's clock says of it.
#include "fleet/collectives.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fabric/engine.h"
#include "fabric/machine.h"
#include "fleet/machine.h"

namespace trnsim::fleet {
namespace {

const catalog::Catalog& hardware() {
  static const catalog::Catalog kCatalog = catalog::load("hardware");
  return kCatalog;
}

// Clocked rank by rank: groups of ranks `stride` apart that fill the systems.
double by_fabric(const std::string& on, fabric::Collective collective, const Group& group,
                 std::int64_t bytes) {
  const fabric::Topology topology = fabric::find_topology(on, hardware());
  fabric::Request request;
  request.collective = collective;
  request.elements = bytes;
  request.size = group.size;
  request.groups = topology.ranks() / group.size;
  for (std::int64_t g = 0; g < request.groups; ++g)
    for (std::int64_t i = 0; i < group.size; ++i)
      request.ranks.push_back(g / group.stride * group.stride * group.size + g % group.stride +
                              i * group.stride);
  const fabric::Plan plan = fabric::make_plan(topology, request);
  const fabric::Cost cost = fabric::clock(topology, plan, {.fold = false, .arrivals = {}});
  return static_cast<double>(cost.time.count) * 1e-12;
}

struct Case {
  const char* on;
  Group group;
};

TEST(Collectives, take_what_the_fabric_says_on_the_same_topology) {
  for (const Case& c : {Case{"trn2.48xlarge", {4, 1}}, Case{"trn2.48xlarge", {16, 4}},
                        Case{"trn2.48xlarge:2", {8, 16}}, Case{"trn1.32xlarge:2", {16, 4}},
                        Case{"p5.48xlarge", {8, 1}}, Case{"p5.48xlarge:4", {8, 4}},
                        Case{"p5.48xlarge:4", {4, 8}}}) {
    const Machine machine = find_machine(c.on, hardware());
    const std::int64_t bytes = std::int64_t{1} << 24;
    EXPECT_NEAR(
        machine.collectives->time(Transfer::kAllReduce, static_cast<double>(bytes), c.group) /
            by_fabric(c.on, fabric::Collective::kAllReduce, c.group, bytes),
        1, 1e-9)
        << c.on << " " << c.group.size << " " << c.group.stride;
    EXPECT_NEAR(
        machine.collectives->time(Transfer::kAllToAll, static_cast<double>(bytes), c.group) /
            by_fabric(c.on, fabric::Collective::kAllToAll, c.group, bytes),
        1, 1e-9)
        << c.on << " " << c.group.size << " " << c.group.stride;
  }
}

TEST(Collectives, between_powers_of_two_time_is_linear_and_never_falls) {
  const Machine machine = find_machine("trn2-ultraserver:4", hardware());
  Collectives& collectives = *machine.collectives;
  const Group group{32, 16};
  double before = 0;
  for (double bytes = 512; bytes < 1e11; bytes *= 1.7) {
    const double seconds = collectives.time(Transfer::kReduceScatter, bytes, group);
    EXPECT_GE(seconds, 0.9 * before) << bytes;  // the runtime changes its algorithm on the way
    before = seconds;
  }
  const double low = collectives.time(Transfer::kAllGather, 1 << 30, group);
  const double high = collectives.time(Transfer::kAllGather, 1U << 31, group);
  EXPECT_DOUBLE_EQ(collectives.time(Transfer::kAllGather, 1.5 * (1 << 30), group),
                   (low + high) / 2);
}

// Of long rings the first rounds tell the rest.
TEST(Collectives, of_many_systems_are_within_two_percent_of_the_clock) {
  for (const char* on :
       {"p5.48xlarge:100", "p5.48xlarge:64", "trn2.48xlarge:60", "trn1.32xlarge:8"}) {
    const Machine machine = find_machine(on, hardware());
    const fabric::Topology topology = fabric::find_topology(on, hardware());
    for (const int power : {24, 30}) {
      fabric::Request request;
      request.collective = fabric::Collective::kAllReduce;
      request.size = topology.ranks();
      const std::int64_t unit = request.size * 64;
      request.elements = ((std::int64_t{1} << power) + unit - 1) / unit * unit;
      const fabric::Cost cost = fabric::clock(topology, fabric::make_plan(topology, request));
      const double planned = machine.collectives->time(Transfer::kAllReduce, std::ldexp(1.0, power),
                                                       {topology.ranks(), 1});
      EXPECT_NEAR(planned / (static_cast<double>(cost.time.count) * 1e-12), 1, 0.02)
          << on << " 2^" << power;
    }
  }
}

TEST(Collectives, a_send_goes_over_the_link_or_the_network) {
  const Machine machine = find_machine("p5.48xlarge:4", hardware());
  const double near = machine.collectives->send(1 << 28, 1);
  const double far = machine.collectives->send(1 << 28, 8);
  EXPECT_GT(far, 3 * near);
}

}  // namespace
}  // namespace trnsim::fleet
