// The values that plans leave: sums that must be exact whatever the algorithm, and the order of
// roundings where it shows.
#include "fabric/execute.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/error.h"
#include "numerics/convert.h"
#include "topologies.h"

namespace trnsim::fabric {
namespace {

using numerics::Dtype;
using Buffers = std::vector<std::vector<std::byte>>;

template <class T>
Buffers filled(std::int64_t ranks, std::int64_t elements, T (*value)(std::int64_t, std::int64_t)) {
  Buffers buffers;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    buffers.emplace_back(static_cast<std::size_t>(elements) * sizeof(T));
    for (std::int64_t i = 0; i < elements; ++i) {
      const T v = value(rank, i);
      std::memcpy(buffers.back().data() + static_cast<std::size_t>(i) * sizeof(T), &v, sizeof v);
    }
  }
  return buffers;
}

template <class T>
std::vector<T> values(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

std::int32_t mixed(std::int64_t rank, std::int64_t i) {
  return static_cast<std::int32_t>((rank + 1) * 1'000'003 + i * 7919);
}

Plan planned(const Topology& topology, Collective collective, std::int64_t ranks,
             std::int64_t elements, int bytes, const std::string& algorithm) {
  Request wanted = request(collective, ranks, elements, algorithm);
  wanted.element_bytes = bytes;
  return make_plan(topology, wanted);
}

void expect_exact(const std::string& on, const std::string& algorithm, std::int64_t ranks) {
  const Topology topology = known(on);
  for (const std::int64_t elements :
       {std::int64_t{1}, ranks - 1, ranks, 3 * ranks + 5, 40 * ranks}) {
    Buffers buffers = filled<std::int32_t>(ranks, elements, mixed);
    reduce(planned(topology, Collective::kAllReduce, ranks, elements, 4, algorithm), Dtype::kInt32,
           Operator::kAdd, &buffers);
    for (const auto& buffer : buffers) {
      const auto got = values<std::int32_t>(buffer);
      for (std::int64_t i = 0; i < elements; ++i) {
        std::uint32_t sum = 0;  // wraps as the fabric's integers do
        for (std::int64_t rank = 0; rank < ranks; ++rank)
          sum += static_cast<std::uint32_t>(mixed(rank, i));
        ASSERT_EQ(static_cast<std::uint32_t>(got[static_cast<std::size_t>(i)]), sum)
            << algorithm << " on " << on << ", " << elements << " elements";
      }
    }
  }
  const std::int64_t part_size = 12;
  Buffers buffers = filled<std::int32_t>(ranks, part_size * ranks, mixed);
  reduce(planned(topology, Collective::kReduceScatter, ranks, part_size * ranks, 4,
                 algorithm == "single_step_mesh" ? "mesh" : algorithm),
         Dtype::kInt32, Operator::kMaximum, &buffers);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const auto got = values<std::int32_t>(buffers[static_cast<std::size_t>(rank)]);
    ASSERT_EQ(got.size(), static_cast<std::size_t>(part_size));
    for (std::int64_t i = 0; i < part_size; ++i)
      ASSERT_EQ(got[static_cast<std::size_t>(i)], mixed(ranks - 1, rank * part_size + i))
          << algorithm << " on " << on << ", rank " << rank;
  }
}

TEST(Reductions, of_integers_are_exact_by_every_algorithm_and_any_size) {
  for (const char* algorithm : {"ring", "kangaring", "rdh", "mesh", "single_step_mesh"})
    for (const std::int64_t ranks : {8, 16, 64}) expect_exact("trn2.48xlarge", algorithm, ranks);
  for (const std::int64_t ranks : {2, 3, 5, 7}) expect_exact("trn2.48xlarge", "ring", ranks);
}

TEST(Reductions, of_integers_are_exact_over_several_levels) {
  expect_exact("trn2.48xlarge:2", "kangaring+rdh", 128);
  expect_exact("trn2.48xlarge:2", "rdh+ring", 128);
  expect_exact("trn2.48xlarge:2", "ring", 128);
  expect_exact("trn2-ultraserver", "kangaring", 256);
  expect_exact("trn3-gen1-ultraserver", "", 256);
}

float small(std::int64_t rank, std::int64_t i) {
  return 1.0f + static_cast<float>(rank * 37 + i) * 0x1p-12f;
}

// What bfloat16 keeps.
float rounded(float value) { return numerics::round_to(Dtype::kBfloat16, value); }

Buffers bfloat16(std::int64_t ranks, std::int64_t elements) {
  Buffers buffers = filled<float>(ranks, elements, small);
  for (auto& buffer : buffers) {
    const auto floats = values<float>(buffer);
    buffer.resize(buffer.size() / 2);
    numerics::from_float(Dtype::kBfloat16, floats.data(), buffer.data(), 2, floats.size());
  }
  return buffers;
}

float at(const std::vector<std::byte>& buffer, std::int64_t i) {
  float value = 0;
  numerics::to_float(Dtype::kBfloat16, buffer.data() + 2 * i, 2, &value, 1);
  return value;
}

TEST(Reductions, round_after_each_hop_of_a_ring) {
  const Topology four = by_hand({{AxisKind::kLine, 4, 1'000'000'000, {}}});
  Buffers buffers = bfloat16(4, 4);
  reduce(planned(four, Collective::kAllReduce, 4, 4, 2, "ring"), Dtype::kBfloat16, Operator::kAdd,
         &buffers);
  for (std::int64_t chunk = 0; chunk < 4; ++chunk) {
    float sum = rounded(small((chunk + 1) % 4, chunk));
    for (int hop = 2; hop <= 4; ++hop)
      sum = rounded(sum + rounded(small((chunk + hop) % 4, chunk)));
    for (const auto& buffer : buffers) EXPECT_EQ(at(buffer, chunk), sum) << chunk;
  }
}

TEST(Reductions, round_a_pair_once_in_a_kangaring) {
  // Two chips of four ranks, so two pairs each: four nodes in the rings. Chunk 0 is of ranks 0, 1.
  const Topology topology = known("trn2.48xlarge");
  const Plan plan = planned(topology, Collective::kAllReduce, 8, 16, 2, "kangaring");
  ASSERT_EQ(plan.stages[0].schedule->channels(), 2);
  Buffers buffers = bfloat16(8, 16);
  reduce(plan, Dtype::kBfloat16, Operator::kAdd, &buffers);
  // The first element of the buffer is rank 0's chunk in the first channel, whose primaries are
  // even: 2 -> 4 -> 6 -> 0, each adding itself and its secondary before one rounding.
  const auto x = [](std::int64_t rank) { return rounded(small(rank, 0)); };
  float sum = rounded(x(2) + x(3));
  sum = rounded((sum + x(4)) + x(5));
  sum = rounded((sum + x(6)) + x(7));
  sum = rounded((x(0) + sum) + x(1));
  for (const auto& buffer : buffers) EXPECT_EQ(at(buffer, 0), sum);
}

TEST(Reductions, add_in_the_order_of_ranks_in_a_single_step) {
  const Topology topology = known("trn2.48xlarge");
  Buffers buffers = bfloat16(64, 3);
  reduce(planned(topology, Collective::kAllReduce, 64, 3, 2, "single_step_mesh"), Dtype::kBfloat16,
         Operator::kAdd, &buffers);
  for (std::int64_t i = 0; i < 3; ++i) {
    float sum = rounded(small(0, i));
    for (std::int64_t rank = 1; rank < 64; ++rank) sum += rounded(small(rank, i));
    for (const auto& buffer : buffers) EXPECT_EQ(at(buffer, i), rounded(sum));
  }
}

TEST(Reductions, give_every_rank_the_same_bits) {
  for (const char* algorithm : {"ring", "kangaring", "rdh", "mesh", "single_step_mesh"}) {
    Buffers buffers = bfloat16(64, 1000);
    reduce(planned(known("trn2.48xlarge"), Collective::kAllReduce, 64, 1000, 2, algorithm),
           Dtype::kBfloat16, Operator::kAdd, &buffers);
    for (const auto& buffer : buffers) EXPECT_EQ(buffer, buffers[0]) << algorithm;
  }
}

TEST(Reductions, of_types_that_nothing_adds_are_refused) {
  const Topology topology = known("trn2.48xlarge");
  for (const Dtype dtype : {Dtype::kFloat8E4M3FNx4, Dtype::kFloat8E8M0FNU}) {
    const int bytes = numerics::info(dtype).bytes;
    Buffers buffers(2, std::vector<std::byte>(static_cast<std::size_t>(4 * bytes)));
    EXPECT_THROW(reduce(planned(topology, Collective::kAllReduce, 2, 4, bytes, ""), dtype,
                        Operator::kAdd, &buffers),
                 Error);
  }
  EXPECT_THROW(operator_from_name("multiply"), Error);
}

}  // namespace
}  // namespace trnsim::fabric
