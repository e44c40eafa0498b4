// Cores of one launch: what they share, where they meet, and how races and deadlocks are told.
#include "core/logical_core.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>

#include "base/error.h"
#include "catalog/catalog.h"
#include "memory/stretch.h"
#include "memory/tensor.h"

namespace trnsim::core {
namespace {

using isa::Tile;
using memory::Space;
using memory::Tensor;
using numerics::Dtype;

// Two cores of which the second runs from within the first one's waits, or when the first has
// ended.
class Cores : public testing::Test {
 protected:
  LogicalCore cores{catalog::load("hardware").chip("trainium2").core, {}, 2};
  Tensor shared = hbm(0, true);

  Tensor hbm(int rank, bool is_shared) {
    return {cores[rank].memory().allocate_hbm("h", 64, is_shared), Dtype::kUint8, {4, 16}};
  }
  Tensor sbuf(int rank) {
    return {cores[rank].memory().allocate(Space::kSbuf, "t", 4, 16), Dtype::kUint8, {4, 16}};
  }

  void issue(int rank, std::string_view name,
             std::initializer_list<std::pair<std::string_view, Tile>> tiles,
             const std::function<void(std::byte*, const isa::InstructionType&)>& more = {}) {
    const isa::InstructionType& type = *isa::find_instruction(name);
    std::vector<std::byte> args = type.defaults;
    for (const auto& [argument, tile] : tiles)
      std::memcpy(args.data() + offset(type, argument), &tile, sizeof tile);
    if (more) more(args.data(), type);
    const std::uint32_t site = cores[rank].program().intern({"k.py", 10 + rank, "k"});
    cores[rank].issue(type, args.data(), site);
  }
  void copy(int rank, const Tensor& dst, const Tensor& src) {
    issue(rank, "dma_copy", {{"dst", dst.access()}, {"src", src.access()}});
  }
  void fill(int rank, const Tensor& dst, double value) {
    issue(rank, "memset", {{"dst", dst.access()}}, [&](std::byte* args, const auto& type) {
      std::memcpy(args + offset(type, "value"), &value, sizeof value);
    });
  }
  void barrier(int rank) {
    issue(rank, "core_barrier", {{"data", shared.access()}}, [](std::byte* args, const auto& type) {
      isa::IntList both;
      both.values = {0, 1};
      both.size = 2;
      std::memcpy(args + offset(type, "cores"), &both, sizeof both);
    });
  }
  static std::size_t offset(const isa::InstructionType& type, std::string_view name) {
    for (const isa::FieldInfo& field : type.fields) {
      if (field.name == name) return field.offset;
    }
    throw std::invalid_argument(std::string(name));
  }

  // Runs both: the second one as soon as the first waits.
  void run(const std::function<void()>& first, const std::function<void()>& second) {
    bool begun = false;
    const auto rest = [&] {
      begun = true;
      second();
      cores.end(1);
    };
    cores.wait = [&](int, bool complete) {
      if (!complete && !begun) rest();
    };
    first();
    cores.end(0);
    if (!begun) rest();
  }
  std::string rule_of(const std::function<void()>& first, const std::function<void()>& second) {
    try {
      run(first, second);
    } catch (const Error& error) {
      message = error.message();
      return error.rule();
    }
    return "";
  }
  std::string message;
};

TEST_F(Cores, have_their_own_sbuf_and_one_hbm) {
  const Tensor a = sbuf(0), b = sbuf(1);
  a.storage()->ensure_placed();
  b.storage()->ensure_placed();
  EXPECT_EQ(a.storage()->offset, b.storage()->offset);
  EXPECT_NE(a.storage()->id, b.storage()->id);
  EXPECT_NE(cores[0].memory().data(a.access()), cores[1].memory().data(b.access()));
  EXPECT_EQ(cores[0].memory().data(shared.access()), cores[1].memory().data(shared.access()));
  EXPECT_TRUE(cores[1].memory().reaches(shared.storage()->id));
  EXPECT_FALSE(cores[1].memory().reaches(hbm(0, false).storage()->id));
  EXPECT_FALSE(cores[1].memory().reaches(a.storage()->id));
}

TEST_F(Cores, know_of_shared_tensors_in_both_programs) {
  std::uint32_t id;
  {
    const Tensor other = hbm(0, true), own = hbm(0, false);
    id = other.storage()->id;
    EXPECT_TRUE(cores[1].program().tensors().contains(id));
    EXPECT_FALSE(cores[1].program().tensors().contains(own.storage()->id));
  }
  EXPECT_EQ(cores[1].program().tensors().at(id).freed, 0u);
}

TEST_F(Cores, see_what_the_other_wrote_before_the_barrier) {
  const Tensor a = sbuf(0), b = sbuf(1);
  fill(0, a, 7);
  run(
      [&] {
        copy(0, shared, a);
        barrier(0);
      },
      [&] {
        barrier(1);
        copy(1, b, shared);
      });
  EXPECT_EQ(*cores[1].memory().data(b.access()), std::byte{7});
}

TEST_F(Cores, race_without_the_barrier) {
  const Tensor a = sbuf(0), b = sbuf(1);
  fill(0, a, 7);
  EXPECT_EQ(rule_of([&] { copy(0, shared, a); }, [&] { copy(1, b, shared); }), "race.shared_hbm");
  EXPECT_NE(
      message.find("core 0 writes it at k.py:10 (dma_copy, instruction 1); core 1 reads it at "
                   "k.py:11 (dma_copy, instruction 0)"),
      std::string::npos)
      << message;
}

TEST_F(Cores, may_write_the_same_values) {
  const Tensor a = sbuf(0), b = sbuf(1);
  fill(0, a, 7);
  fill(1, b, 7);
  EXPECT_EQ(rule_of([&] { copy(0, shared, a); }, [&] { copy(1, shared, b); }), "");
}

TEST_F(Cores, may_not_write_different_values) {
  const Tensor a = sbuf(0), b = sbuf(1);
  fill(0, a, 7);
  fill(1, b, 8);
  EXPECT_EQ(rule_of([&] { copy(0, shared, a); }, [&] { copy(1, shared, b); }), "race.shared_hbm");
  EXPECT_NE(message.find("The values differ."), std::string::npos);
}

TEST_F(Cores, may_not_overwrite_what_the_other_reads) {
  const Tensor a = sbuf(0), b = sbuf(1);
  cores[0].memory().mark_written(shared.access());
  fill(1, b, 8);
  EXPECT_EQ(rule_of([&] { copy(0, a, shared); }, [&] { copy(1, shared, b); }), "race.shared_hbm");
}

TEST_F(Cores, are_not_watched_while_a_tensor_is_created) {
  const Tensor a = sbuf(0), b = sbuf(1);
  fill(0, a, 7);
  fill(1, b, 8);
  EXPECT_EQ(rule_of(
                [&] {
                  cores.watch_races(0, false);
                  copy(0, shared, a);
                  cores.watch_races(0, true);
                },
                [&] { copy(1, shared, b); }),
            "");
}

TEST_F(Cores, that_never_meet_are_a_deadlock) {
  EXPECT_EQ(rule_of([] {}, [&] { barrier(1); }), "launch.deadlock");
  EXPECT_EQ(message.substr(0, 75),
            "core 0 has ended; core 1 waits in core_barrier at k.py:11, after 0 meetings");
}

TEST_F(Cores, that_wait_in_vain_are_a_deadlock) {
  EXPECT_EQ(rule_of([&] { barrier(0); }, [] {}), "launch.deadlock");
  EXPECT_EQ(message.substr(0, 44), "core 0 waits in core_barrier at k.py:10; cor");
}

TEST_F(Cores, do_not_reach_each_others_tiles) {
  const Tensor a = sbuf(0), b = sbuf(1);
  fill(0, a, 7);
  EXPECT_EQ(rule_of([] {}, [&] { copy(1, b, a); }), "memory.other_core");
}

}  // namespace
}  // namespace trnsim::core
