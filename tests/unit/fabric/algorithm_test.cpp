// Every algorithm, played with sets instead of numbers: each chunk must end where it belongs, with
// each member's contribution exactly once.
#include "fabric/algorithm.h"

#include <gtest/gtest.h>

#include <map>

#include "base/error.h"

namespace trnsim::fabric {
namespace {

using Counts = std::vector<int>;  // by member: how often its contribution is in

struct Played {
  Schedule schedule;
  int chip;  // members whose memory a member may read
};

// What all members send in a round, in order.
std::vector<std::pair<int, Send>> sent(const Algorithm& algorithm, int channel, int round) {
  std::vector<std::pair<int, Send>> all;
  for (int member = 0; member < algorithm.members(); ++member) {
    std::vector<Send> sends;
    algorithm.sends(member, channel, round, sends);
    for (const Send& send : sends) all.emplace_back(member, send);
  }
  return all;
}

void expect_receives_match_sends(const Algorithm& algorithm) {
  for (int channel = 0; channel < algorithm.channels(); ++channel) {
    for (int round = 0; round < algorithm.rounds(); ++round) {
      std::map<int, int> arriving;
      for (const auto& [from, send] : sent(algorithm, channel, round)) {
        EXPECT_NE(from, send.to);
        ++arriving[send.to];
      }
      for (int member = 0; member < algorithm.members(); ++member)
        EXPECT_EQ(algorithm.receives(member, channel, round), arriving[member])
            << algorithm.name() << " round " << round << " member " << member;
    }
  }
}

void expect_reduces(const Algorithm& algorithm) {
  expect_receives_match_sends(algorithm);
  const int n = algorithm.members();
  for (int channel = 0; channel < algorithm.channels(); ++channel) {
    std::vector<std::vector<Counts>> state(
        static_cast<std::size_t>(n),
        std::vector<Counts>(static_cast<std::size_t>(n), Counts(static_cast<std::size_t>(n))));
    for (int m = 0; m < n; ++m)
      for (int c = 0; c < n; ++c)
        state[static_cast<std::size_t>(m)][static_cast<std::size_t>(c)]
             [static_cast<std::size_t>(m)] = 1;
    for (int round = 0; round < algorithm.rounds(); ++round) {
      const auto before = state;
      for (const auto& [from, send] : sent(algorithm, channel, round)) {
        EXPECT_TRUE(send.reduces);
        ASSERT_EQ(send.chunks.of, n);
        for (int c = send.chunks.first; c < send.chunks.first + send.chunks.count; ++c) {
          Counts value = before[static_cast<std::size_t>(from)][static_cast<std::size_t>(c)];
          for (int b = send.block_first; b < send.block_first + send.block_count; ++b)
            value[static_cast<std::size_t>(b)] += b != from;
          for (int m = 0; m < n; ++m)
            state[static_cast<std::size_t>(send.to)][static_cast<std::size_t>(c)]
                 [static_cast<std::size_t>(m)] += value[static_cast<std::size_t>(m)];
        }
      }
    }
    std::vector<bool> taken(static_cast<std::size_t>(n));
    for (int owner = 0; owner < n; ++owner) {
      const auto chunk = static_cast<std::size_t>(algorithm.owned(owner));
      EXPECT_FALSE(taken[chunk]) << algorithm.name();
      taken[chunk] = true;
      const int width = algorithm.block(), first = owner / width * width;
      bool complete = false;
      for (int holder = first; holder < first + width; ++holder) {
        Counts value = state[static_cast<std::size_t>(holder)][chunk];
        for (int b = first; b < first + width; ++b)
          value[static_cast<std::size_t>(b)] += b != holder;
        complete = complete || value == Counts(static_cast<std::size_t>(n), 1);
      }
      EXPECT_TRUE(complete) << algorithm.name() << " of " << n << ": chunk " << chunk;
    }
  }
}

void expect_gathers(const Played& played, int duplicated = 1) {
  const Algorithm& algorithm = *played.schedule;
  expect_receives_match_sends(algorithm);
  const int n = algorithm.members();
  for (int channel = 0; channel < algorithm.channels(); ++channel) {
    std::vector<std::vector<bool>> has(static_cast<std::size_t>(n),
                                       std::vector<bool>(static_cast<std::size_t>(n)));
    for (int m = 0; m < n; ++m)
      for (int mate = m / duplicated * duplicated; mate < (m / duplicated + 1) * duplicated; ++mate)
        has[static_cast<std::size_t>(mate)][static_cast<std::size_t>(algorithm.owned(m))] = true;
    for (int round = 0; round < algorithm.rounds(); ++round) {
      const auto before = has;
      for (const auto& [from, send] : sent(algorithm, channel, round)) {
        for (int c = send.chunks.first; c < send.chunks.first + send.chunks.count; ++c) {
          bool known = before[static_cast<std::size_t>(from)][static_cast<std::size_t>(c)];
          for (int mate = from / played.chip * played.chip;
               mate < (from / played.chip + 1) * played.chip; ++mate)
            known = known || algorithm.owned(mate) == c;
          EXPECT_TRUE(known) << algorithm.name() << " sends what it does not have";
          const int first = send.to / duplicated * duplicated;
          for (int to = first; to < first + duplicated; ++to)
            has[static_cast<std::size_t>(to)][static_cast<std::size_t>(c)] = true;
        }
      }
    }
    for (int m = 0; m < n; ++m)
      EXPECT_EQ(has[static_cast<std::size_t>(m)],
                std::vector<bool>(static_cast<std::size_t>(n), true))
          << algorithm.name() << " of " << n << ", member " << m;
  }
}

TEST(Ring, reduces_and_gathers_everything_once) {
  for (const int n : {2, 3, 5, 8, 64}) {
    expect_reduces(*ring_reduce_scatter(natural_order(n, true), false));
    expect_gathers({ring_all_gather(natural_order(n, true), false), 1});
  }
}

TEST(KangaRing, reduces_and_gathers_everything_once) {
  for (const int nodes : {2, 3, 8, 32}) {
    expect_reduces(*ring_reduce_scatter(natural_order(nodes, true), true));
    expect_gathers({ring_all_gather(natural_order(nodes, true), true), 2}, 2);
  }
}

TEST(HalvingAndDoubling, reduce_and_gather_everything_once) {
  for (const auto& [members, local] :
       {std::pair{2, 1}, {8, 1}, {4, 4}, {8, 4}, {64, 4}, {32, 2}, {16, 1}}) {
    expect_reduces(*halving_reduce_scatter(members, local, false));
    expect_gathers({doubling_all_gather(members, local, false), 1});
  }
  expect_reduces(*halving_reduce_scatter(64, 4, true));
  expect_gathers({doubling_all_gather(64, 4, true), 1});
}

TEST(Mesh, reduces_and_gathers_everything_once) {
  for (const auto& [members, local] :
       {std::pair{2, 1}, {2, 2}, {5, 1}, {4, 4}, {8, 4}, {12, 4}, {64, 4}, {6, 2}, {32, 2}}) {
    expect_reduces(*mesh_reduce_scatter(members, local, true));
    expect_gathers({mesh_all_gather(members, local, true), local});
  }
}

TEST(HalvingOnATorusOfFours, exchanges_between_neighbours_only) {
  const Schedule schedule = halving_reduce_scatter(64, 4, true);
  for (int round = 1; round < schedule->rounds(); ++round) {
    for (const auto& [from, send] : sent(*schedule, 0, round)) {
      const int a = from / 4, b = send.to / 4;
      const int rows = std::abs(a / 4 - b / 4), columns = std::abs(a % 4 - b % 4);
      EXPECT_EQ(rows % 2 + columns % 2, 1)
          << a << " to " << b;  // one step, 3 being one the other way
    }
  }
}

TEST(Broadcast, reaches_everyone_from_any_root) {
  for (const int n : {1, 2, 3, 7, 16}) {
    for (int root = 0; root < n; root += 2) {
      const Schedule schedule = binomial_broadcast(n, root);
      expect_receives_match_sends(*schedule);
      std::vector<bool> has(static_cast<std::size_t>(n));
      has[static_cast<std::size_t>(root)] = true;
      for (int round = 0; round < schedule->rounds(); ++round) {
        for (const auto& [from, send] : sent(*schedule, 0, round)) {
          EXPECT_TRUE(has[static_cast<std::size_t>(from)]);
          has[static_cast<std::size_t>(send.to)] = true;
        }
      }
      EXPECT_EQ(has, std::vector<bool>(static_cast<std::size_t>(n), true));
    }
  }
}

TEST(AllToAll, sends_each_member_its_chunk) {
  for (const int n : {1, 2, 5}) expect_receives_match_sends(*direct_all_to_all(n));
}

TEST(Listed, schedules_with_ranks_or_chunks_that_do_not_exist_are_refused) {
  const auto one = [](int from, Send send) { return listed("mine", 4, {{{from, send}}}); };
  EXPECT_NO_THROW(one(0, {.to = 3, .chunks = {1, 2, 4}}));
  EXPECT_THROW(one(0, {.to = 4, .chunks = {0, 1, 4}}), Error);
  EXPECT_THROW(one(-1, {.to = 1, .chunks = {0, 1, 4}}), Error);
  EXPECT_THROW(one(1, {.to = 1, .chunks = {0, 1, 4}}), Error);
  EXPECT_THROW(one(0, {.to = 1, .chunks = {3, 2, 4}}), Error);
  EXPECT_THROW(one(0, {.to = 1, .chunks = {0, 0, 4}}), Error);
}

TEST(Parts, cover_the_whole_without_overlap_however_uneven) {
  for (const std::int64_t size : {0, 1, 7, 64, 1000}) {
    std::int64_t next = 5;
    for (int i = 0; i < 7; ++i) {
      const Range range = part({5, 5 + size}, {i, 1, 7});
      EXPECT_EQ(range.begin, next);
      EXPECT_GE(range.size(), size / 7);
      EXPECT_LE(range.size(), size / 7 + 1);
      next = range.end;
    }
    EXPECT_EQ(next, 5 + size);
  }
}

}  // namespace
}  // namespace trnsim::fabric
