// Times worked out by hand, on topologies whose links carry a byte per nanosecond.
#include "fabric/engine.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "topologies.h"

namespace trnsim::fabric {
namespace {

TEST(Ring, all_reduce_takes_its_closed_form) {
  for (const int n : {2, 4, 16}) {
    const Topology topology = by_hand({ring(n, 1'000'000'000, 700)});
    const std::int64_t bytes = 1 << 20;
    const Cost cost = timed(topology, request(Collective::kAllReduce, n, bytes));
    // 2 (n - 1) steps; both directions at once where there are two
    const std::int64_t chunk = bytes / n / (n > 2 ? 2 : 1);
    EXPECT_EQ(cost.time.count, 2 * (n - 1) * (chunk * 1000 + 700)) << n;
  }
}

TEST(Switch, direct_exchange_is_bound_by_the_port) {
  const Topology topology = by_hand({{AxisKind::kSwitch, 8, 7'000'000'000, {}}});
  const Cost cost = timed(topology, request(Collective::kAllToAll, 8, 8000));
  EXPECT_EQ(cost.time.count, 1000 * 1000);
  EXPECT_EQ(cost.binding()->bytes, 7000);
}

TEST(Chain, transfers_that_share_a_link_share_its_bandwidth) {
  Topology topology = by_hand({{AxisKind::kLine, 4, 1'000'000'000, {}}});
  Request wanted = request(Collective::kPermute, 4, 1000);
  wanted.pairs = {{0, 2}, {1, 3}};  // both cross 1 -> 2
  EXPECT_EQ(timed(topology, wanted).time.count, 2'000'000);
  wanted.pairs = {{0, 1}, {2, 3}};
  EXPECT_EQ(timed(topology, wanted).time.count, 1'000'000);
  wanted.pairs = {{0, 1}, {1, 0}};  // one link, both directions
  EXPECT_EQ(timed(topology, wanted).time.count, 1'000'000);
}

TEST(Memory, binds_where_it_is_touched_more_often_than_links_carry) {
  Topology topology = by_hand({ring(2)});
  topology.memory = 1'500'000'000;  // a reduction reads two and writes one at each end: 3 per byte
  const Cost slow = timed(topology, request(Collective::kReduceScatter, 2, 2000));
  EXPECT_EQ(slow.time.count, 2'000'000);
  EXPECT_EQ(slow.binding()->resource, "memory of chip 0");
  Request in_sbuf = request(Collective::kReduceScatter, 2, 2000);
  in_sbuf.in_memory = false;
  EXPECT_EQ(timed(topology, in_sbuf).time.count, 1'000'000);
}

TEST(Steps, cost_their_latency_even_without_bytes) {
  Topology topology = by_hand({ring(4)});
  topology.steps.start = {5'000};
  topology.steps.ring = {100};
  EXPECT_EQ(timed(topology, request(Collective::kAllReduce, 4, 0)).time.count, 5'000 + 6 * 100);
  EXPECT_EQ(timed(topology, request(Collective::kAllReduce, 1, 4096)).time.count, 5'000);
}

TEST(Networks, delay_the_receiver_and_hold_the_sender) {
  Topology topology = by_hand({{AxisKind::kLine, 1, 0, {}}});
  topology.systems = 3;
  topology.network = {1, 1'000'000'000, {15'000'000}};
  Request wanted = request(Collective::kPermute, 3, 1000);
  wanted.pairs = {{0, 1}};
  EXPECT_EQ(timed(topology, wanted).time.count, 1'000'000 + 15'000'000);
  topology.steps.network = {20'000'000};
  EXPECT_EQ(timed(topology, wanted).time.count, 1'000'000 + 20'000'000);
  // A ring's data goes on as it comes: two hops in a row, and no sum of both delays per step.
  topology.steps.network = {};
  const Cost ring = timed(topology, request(Collective::kAllGather, 3, 3000, "ring"));
  EXPECT_EQ(ring.time.count, 2 * (1'000'000 + 15'000'000));
}

TEST(Arrivals, late_ranks_hold_up_the_others) {
  const Topology topology = by_hand({ring(4)});
  const Plan plan = make_plan(topology, request(Collective::kAllReduce, 4, 8000));
  const Picoseconds together = clock(topology, plan).time;
  const Cost late = clock(topology, plan, {.fold = true, .arrivals = {{0}, {0}, {9'000'000}, {0}}});
  EXPECT_EQ(late.time.count, together.count + 9'000'000);
  EXPECT_EQ(late.ends.size(), 4u);
}

TEST(Schedules, that_wait_for_what_nobody_sends_are_refused) {
  class Waits final : public Algorithm {
    const char* name() const override { return "waits"; }
    int members() const override { return 2; }
    int rounds() const override { return 1; }
    StepKind step(int) const override { return StepKind::kRing; }
    void sends(int, int, int, std::vector<Send>&) const override {}
    int receives(int, int, int) const override { return 1; }
  };
  const Topology topology = by_hand({ring(2)});
  Request wanted = request(Collective::kAllReduce, 2, 8);
  wanted.schedule = std::make_shared<Waits>();
  EXPECT_THROW(timed(topology, wanted), Error);
}

TEST(Links, that_are_down_cost_the_way_round) {
  Topology torus = known("trn2.48xlarge");
  const Request wanted = request(Collective::kAllReduce, 64, 1 << 28);
  const Picoseconds whole = timed(torus, wanted).time;
  torus.down_links = {{0, 1}, {1, 0}};
  EXPECT_GT(timed(torus, wanted).time, whole);
  torus.down_links.clear();
  torus.down_chips = {5};
  EXPECT_THROW(timed(torus, wanted), Error);  // holds ranks 20 to 23
  Request without = wanted;                   // all ranks but those
  for (int rank = 0; rank < 64; ++rank)
    if (rank / 4 != 5) without.ranks.push_back(rank);
  without.size = 60;
  EXPECT_GT(timed(torus, without).time.count, 0);
}

TEST(Runs, repeat_to_the_picosecond) {
  const Topology topology = known("trn2.48xlarge");
  for (const std::int64_t bytes : {1000, 1 << 21, 1 << 27}) {
    const Cost first = timed(topology, request(Collective::kAllReduce, 64, bytes));
    const Cost again = timed(topology, request(Collective::kAllReduce, 64, bytes));
    EXPECT_EQ(first.time, again.time);
    ASSERT_EQ(first.traffic.size(), again.traffic.size());
    for (std::size_t i = 0; i < first.traffic.size(); ++i) {
      EXPECT_EQ(first.traffic[i].resource, again.traffic[i].resource);
      EXPECT_EQ(first.traffic[i].bytes, again.traffic[i].bytes);
    }
  }
}

TEST(Traffic, of_a_ring_is_what_every_link_must_carry) {
  const Topology topology = by_hand({ring(4)});
  const Cost cost = timed(topology, request(Collective::kAllReduce, 4, 8000));
  int links = 0;
  for (const Traffic& traffic : cost.traffic) {
    EXPECT_TRUE(traffic.is_link);
    EXPECT_EQ(traffic.bytes, 2 * 3 * 1000) << traffic.resource;  // one of two channels
    ++links;
  }
  EXPECT_EQ(links, 2);  // folded: one link each way stands for all
}

}  // namespace
}  // namespace trnsim::fabric
