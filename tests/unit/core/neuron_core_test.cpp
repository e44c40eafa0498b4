// One NeuronCore: what it refuses, what it records, and what an instruction leaves in memory.
#include "core/neuron_core.h"

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "catalog/catalog.h"
#include "memory/stretch.h"
#include "memory/tensor.h"

namespace trnsim::core {
namespace {

using isa::Tile;
using memory::Dims;
using memory::Index;
using memory::Space;
using memory::Tensor;
using numerics::Dtype;

using Value = std::variant<Tile, double, isa::OptionalInt>;
using Arguments = std::initializer_list<std::pair<std::string_view, Value>>;

constexpr isa::OptionalInt kAdd{.value = 1, .present = true};
constexpr isa::OptionalInt kOverwrite{.value = 0, .present = true};

class Core : public testing::Test {
 protected:
  NeuronCore core{catalog::load("hardware").chip("trainium2").core, {}};

  Tensor tile(Space space, const char* name, int partitions, std::int64_t columns,
              Dtype dtype = Dtype::kFloat32) {
    const std::int64_t bytes = columns * numerics::info(dtype).bytes;
    return {core.memory().allocate(space, name, partitions, bytes), dtype, {partitions, columns}};
  }
  Tensor sbuf(const char* name, int partitions, std::int64_t columns) {
    return tile(Space::kSbuf, name, partitions, columns);
  }
  // Columns [first, last).
  static Tensor columns(const Tensor& t, std::int64_t first, std::int64_t last) {
    const Index index[] = {{0, t.shape()[0]}, {first, last - first}};
    return t.slice(index);
  }

  static std::vector<std::byte> arguments(const isa::InstructionType& type, Arguments given) {
    std::vector<std::byte> args = type.defaults;
    for (const auto& [name, value] : given) {
      const isa::FieldInfo* field = nullptr;
      for (const isa::FieldInfo& each : type.fields) {
        if (each.name == name) field = &each;
      }
      if (!field) throw std::invalid_argument(std::string(name));
      std::visit([&](const auto& v) { std::memcpy(args.data() + field->offset, &v, sizeof v); },
                 value);
    }
    return args;
  }
  void issue(std::string_view name, Arguments given) {
    const isa::InstructionType& type = *isa::find_instruction(name);
    core.issue(type, arguments(type, given).data(), core.program().intern({"kernel.py", 1, "k"}));
  }
  std::string refused(std::string_view name, Arguments given) {
    try {
      issue(name, given);
    } catch (const Error& error) {
      return error.rule();
    }
    return "";
  }

  void memset(const Tensor& dst, double value) {
    issue("memset", {{"dst", dst.access()}, {"value", value}});
  }
  std::vector<float> values(const Tensor& t) {
    std::vector<float> dense(static_cast<std::size_t>(t.elements()));
    memory::gather(core.memory(), t.access(), reinterpret_cast<std::byte*>(dense.data()));
    return dense;
  }
  void expect_values(const Tensor& t, float value) {
    EXPECT_EQ(values(t), std::vector<float>(static_cast<std::size_t>(t.elements()), value));
  }

  // stationary.T @ moving, all ones over `k` partitions: every element of the result is k.
  void matmul(const Tensor& dst, int k, isa::OptionalInt accumulate) {
    const Tensor stationary = sbuf("stationary", k, dst.shape()[0]);
    const Tensor moving = sbuf("moving", k, dst.shape()[1]);
    memset(stationary, 1);
    memset(moving, 1);
    issue("nc_matmul", {{"dst", dst.access()},
                        {"stationary", stationary.access()},
                        {"moving", moving.access()},
                        {"accumulate", accumulate}});
  }
};

TEST_F(Core, an_instruction_is_recorded_and_carried_out) {
  const Tensor t = sbuf("t", 4, 8);
  memset(t, 2.5);
  EXPECT_EQ(core.program().size(), 1U);
  EXPECT_EQ(core.program()[0].engine, isa::Engine::kVector);
  expect_values(t, 2.5F);
}

TEST_F(Core, an_illegal_instruction_records_nothing_and_writes_nothing) {
  const Tensor a = sbuf("a", 4, 8), b = sbuf("b", 5, 8);
  memset(a, 1);
  memset(b, 2);
  EXPECT_EQ(refused("tensor_copy", {{"dst", a.access()}, {"src", b.access()}}),
            "tensor_copy.same_partitions");
  EXPECT_EQ(core.program().size(), 2U);
  expect_values(a, 1);
}

TEST_F(Core, reading_what_was_never_written_records_nothing) {
  const Tensor a = sbuf("a", 4, 8), b = sbuf("b", 4, 8);
  EXPECT_EQ(refused("tensor_copy", {{"dst", a.access()}, {"src", b.access()}}),
            "memory.never_written");
  EXPECT_EQ(core.program().size(), 0U);
  EXPECT_EQ(refused("tensor_copy", {{"dst", b.access()}, {"src", a.access()}}),
            "memory.never_written");  // the refused copy did not count as a write
}

TEST_F(Core, a_part_never_written_counts_as_nan_and_is_remarked_once) {
  const Tensor a = sbuf("a", 4, 8), b = sbuf("b", 4, 8);
  memset(columns(a, 0, 5), 3);
  issue("tensor_copy", {{"dst", columns(b, 0, 5).access()}, {"src", columns(a, 0, 5).access()}});
  EXPECT_TRUE(core.remarks().empty());
  EXPECT_EQ(refused("tensor_copy",
                    {{"dst", columns(b, 5, 8).access()}, {"src", columns(a, 5, 8).access()}}),
            "memory.never_written");  // nothing of it was
  for (int i = 0; i < 2; ++i) issue("tensor_copy", {{"dst", b.access()}, {"src", a.access()}});
  ASSERT_EQ(core.remarks().size(), 1U);
  EXPECT_TRUE(core.remarks()[0].text.starts_with(
      "tensor_copy: src reads SBUF tensor 'a', of which a part"));
  expect_values(columns(b, 0, 5), 3);
}

TEST_F(Core, a_program_tells_the_lives_of_the_tiles) {
  Tensor t = sbuf("t", 4, 8);
  EXPECT_TRUE(core.program().tensors().empty());  // placed at its first use
  memset(t, 1);
  memset(t, 2);
  const std::uint32_t id = t.storage()->id;
  t = {};
  EXPECT_EQ(core.program().tensors().at(id).born, 0U);
  EXPECT_EQ(core.program().tensors().at(id).freed, 2U);
}

TEST_F(Core, the_second_matmul_of_a_group_adds_and_the_first_overwrites) {
  const Tensor acc = tile(Space::kPsum, "acc", 16, 8);
  matmul(acc, 4, {});
  expect_values(acc, 4);
  matmul(acc, 8, {});
  expect_values(acc, 12);
  matmul(acc, 8, kAdd);
  expect_values(acc, 20);
  matmul(acc, 8, kOverwrite);
  expect_values(acc, 8);
}

TEST_F(Core, a_vector_write_ends_the_accumulation_group) {
  const Tensor acc = tile(Space::kPsum, "acc", 16, 8);
  matmul(acc, 4, {});
  EXPECT_TRUE(core.memory().accumulated(acc.access()));
  memset(acc, 100);
  EXPECT_FALSE(core.memory().accumulated(acc.access()));
  matmul(acc, 8, {});
  expect_values(acc, 8);
}

TEST_F(Core, accumulating_onto_what_a_vector_instruction_wrote_adds_and_is_remarked) {
  const Tensor acc = tile(Space::kPsum, "acc", 16, 8);
  memset(acc, 100);
  const Tensor ones = sbuf("ones", 4, 16);
  memset(ones, 1);
  issue("nc_matmul", {{"dst", acc.access()},
                      {"stationary", ones.access()},
                      {"moving", columns(ones, 0, 8).access()},
                      {"accumulate", kAdd}});
  expect_values(acc, 104);
  ASSERT_EQ(core.remarks().size(), 1U);
  EXPECT_NE(core.remarks()[0].text.find("undefined"), std::string::npos);
}

TEST_F(Core, each_byte_of_psum_accumulates_by_itself) {
  const Tensor acc = tile(Space::kPsum, "acc", 16, 8);
  matmul(acc, 4, {});
  memset(columns(acc, 2, 4), 100);
  matmul(acc, 8, {});
  expect_values(columns(acc, 0, 2), 12);
  expect_values(columns(acc, 2, 4), 8);
  expect_values(columns(acc, 4, 8), 12);
  EXPECT_TRUE(core.memory().accumulated(acc.access()));
}

TEST_F(Core, a_new_psum_tile_in_the_place_of_an_old_one_starts_a_new_group) {
  const std::int64_t whole = 16384 / 4;
  Tensor acc = tile(Space::kPsum, "old", 16, whole);
  matmul(columns(acc, 0, 8), 4, {});
  acc = {};
  acc = tile(Space::kPsum, "new", 16, whole);
  matmul(columns(acc, 0, 8), 8, {});
  expect_values(columns(acc, 0, 8), 8);
}

TEST_F(Core, a_timing_only_core_records_the_same_and_checks_the_same) {
  NeuronCore timing_only(core.spec(), {.values = false});
  const Tensor a{timing_only.memory().allocate(Space::kSbuf, "a", 4, 32), Dtype::kFloat32, {4, 8}};
  const isa::InstructionType& type = *isa::find_instruction("memset");
  const auto args = arguments(type, {{"dst", a.access()}, {"value", 1.0}});
  timing_only.issue(type, args.data(), timing_only.program().intern({"kernel.py", 1, "k"}));
  EXPECT_EQ(timing_only.program().size(), 1U);
  EXPECT_FALSE(timing_only.memory().geometry().real_storage);
  EXPECT_NO_THROW(timing_only.memory().require_written(a.access(), "src"));
}

TEST_F(Core, an_instruction_of_a_later_generation_is_refused) {
  NeuronCore first(catalog::load("hardware").chip("trainium1").core, {});
  for (const isa::InstructionType& type : isa::instruction_table()) {
    if (type.info.since <= first.spec().version()) continue;
    try {
      first.issue(type, type.defaults.data(), 0);
      ADD_FAILURE() << type.info.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.rule(), std::string(type.info.name) + ".generation");
    }
  }
  EXPECT_EQ(first.program().size(), 0U);
}

TEST_F(Core, a_chip_with_more_partitions_than_are_simulated_is_refused) {
  catalog::Core wide = core.spec();
  wide.sbuf.partitions.value = 256;
  try {
    NeuronCore refused(wide, {});
    ADD_FAILURE() << "256 partitions were accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kConfig);
  }
}

// Two tiles at one address in PSUM: what a vector instruction writes through the one is no longer a
// matmul's through the other.
TEST_F(Core, shared_psum_tiles_share_the_accumulation_flags) {
  const auto at = [&](const char* name) {
    return Tensor(
        core.memory().allocate_at(Space::kPsum, name, 16, 32, 0, 0, memory::Overlap::kShared),
        Dtype::kFloat32, {16, 8});
  };
  const Tensor a = at("a"), b = at("b");
  matmul(a, 4, {});
  memset(b, 100);
  matmul(a, 8, {});
  expect_values(a, 8);
}

// A value that breaks a rule is found while the instruction is carried out.
TEST_F(Core, an_index_out_of_range_records_nothing) {
  const Tensor data = sbuf("data", 4, 8), dst = sbuf("dst", 4, 8);
  const Tensor indices = tile(Space::kSbuf, "indices", 4, 8, Dtype::kUint32);
  memset(data, 1);
  memset(indices, 99);
  EXPECT_NE(
      refused("nc_n_gather",
              {{"dst", dst.access()}, {"data", data.access()}, {"indices", indices.access()}}),
      "");
  EXPECT_EQ(core.program().size(), 2U);
}

}  // namespace
}  // namespace trnsim::core
