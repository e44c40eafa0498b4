// The recorded instruction stream.
#include "program/program.h"

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <random>
#include <stdexcept>

namespace trnsim::program {
namespace {

class Recording : public testing::Test {
 protected:
  Program program;

  static const isa::InstructionType& type(const char* name) {
    const isa::InstructionType* found = isa::find_instruction(name);
    if (!found) throw std::invalid_argument(name);
    return *found;
  }
  // The arguments of `name` with a tile at byte `offset` as the first of them.
  static std::vector<std::byte> arguments(const char* name, std::int64_t offset) {
    std::vector<std::byte> args = type(name).defaults;
    isa::Tile tile;
    tile.dims = 2;
    tile.sizes = {128, 8};
    tile.strides = {0, 4};
    tile.offset = offset;
    std::memcpy(args.data() + type(name).fields[0].offset, &tile, sizeof tile);
    return args;
  }
  const Instruction& append(const char* name, std::int64_t offset, std::uint32_t site) {
    const std::vector<std::byte> args = arguments(name, offset);
    program.append(type(name), isa::Engine::kVector, site, args.data());
    return program[program.size() - 1];
  }
  std::uint32_t line(int number) { return program.intern({"kernel.py", number, "kernel"}); }
  void expect_arguments(const Instruction& i, const char* name, std::int64_t offset) {
    const std::vector<std::byte> args = arguments(name, offset);
    EXPECT_EQ(std::memcmp(program.args(i), args.data(), args.size()), 0);
  }
};

TEST_F(Recording, starts_empty) {
  EXPECT_EQ(program.size(), 0U);
  EXPECT_TRUE(program.sites().empty());
  EXPECT_TRUE(program.tensors().empty());
}

TEST_F(Recording, keeps_opcode_engine_line_and_arguments) {
  const auto site = line(3);
  const Instruction i = append("memset", 64, site);
  EXPECT_EQ(program.type(i).info.name, "memset");
  EXPECT_EQ(i.engine, isa::Engine::kVector);
  EXPECT_EQ(program.sites()[i.site].line, 3);
  expect_arguments(i, "memset", 64);
}

TEST_F(Recording, a_line_is_interned_once) {
  EXPECT_EQ(line(3), line(3));
  EXPECT_NE(line(3), line(4));
  EXPECT_NE(line(3), program.intern({"kernel.py", 3, "inlined"}));
  EXPECT_NE(line(3), program.intern({"other.py", 3, "kernel"}));
  EXPECT_EQ(program.sites().size(), 4U);
}

TEST_F(Recording, a_line_that_repeats_an_instruction_shares_its_arguments) {
  const auto site = line(3);
  const auto first = append("memset", 0, site).args;
  EXPECT_EQ(append("memset", 0, site).args, first);
  EXPECT_EQ(append("memset", 0, site).args, first);
  EXPECT_EQ(program.size(), 3U);
}

TEST_F(Recording, a_line_shares_although_others_come_between) {
  const auto first = append("memset", 0, line(3)).args;
  append("memset", 64, line(4));
  append("max8", 0, line(5));
  EXPECT_EQ(append("memset", 0, line(3)).args, first);
}

TEST_F(Recording, another_tile_instruction_or_line_gets_arguments_of_its_own) {
  const auto first = append("memset", 0, line(3)).args;
  EXPECT_NE(append("memset", 64, line(3)).args, first);
  EXPECT_NE(append("memset", 0, line(4)).args, first);
  EXPECT_NE(append("max8", 0, line(3)).args, first);
}

TEST_F(Recording, arguments_start_where_the_strictest_of_them_may) {
  for (const isa::InstructionType& each : isa::instruction_table()) {
    program.append(each, isa::Engine::kVector, line(each.opcode), each.defaults.data());
    EXPECT_EQ(program[program.size() - 1].args % 8, 0U) << each.info.name;
  }
}

TEST_F(Recording, every_instruction_of_a_long_program_keeps_its_arguments) {
  std::mt19937 random(31);
  std::vector<std::pair<const char*, std::int64_t>> issued;
  for (int i = 0; i < 3000; ++i) {
    constexpr const char* kNames[] = {"memset", "max8", "tensor_copy", "nc_matmul"};
    const char* name = kNames[random() % 4];
    const auto offset = static_cast<std::int64_t>(random() % 3 * 64);
    append(name, offset, line(static_cast<int>(random() % 5)));
    issued.emplace_back(name, offset);
  }
  for (std::size_t i = 0; i < issued.size(); ++i) {
    ASSERT_EQ(program.type(program[i]).info.name, issued[i].first);
    expect_arguments(program[i], issued[i].first, issued[i].second);
  }
}

TEST_F(Recording, only_the_instruction_that_was_named_has_a_name) {
  append("memset", 0, line(3));
  append("memset", 0, line(3));
  program.name_last("clear the scores");
  append("memset", 0, line(3));
  EXPECT_EQ(program.name(0), nullptr);
  ASSERT_NE(program.name(1), nullptr);
  EXPECT_EQ(*program.name(1), "clear the scores");
  EXPECT_EQ(program.name(2), nullptr);
}

TEST_F(Recording, a_tensors_life_is_counted_in_instructions) {
  append("memset", 0, line(3));
  memory::Allocation tile;
  tile.id = 5;
  tile.name = "scores";
  tile.space = memory::Space::kPsum;
  tile.partitions = 64;
  tile.offset = 2048;
  tile.bytes = 512;
  program.tensor_born(tile);
  append("memset", 0, line(3));
  append("memset", 0, line(3));
  const TensorLife& life = program.tensors().at(5);
  EXPECT_EQ(life.name, "scores");
  EXPECT_EQ(life.space, memory::Space::kPsum);
  EXPECT_EQ(life.partitions, 64);
  EXPECT_EQ(life.offset, 2048);
  EXPECT_EQ(life.bytes, 512);
  EXPECT_EQ(life.born, 1U);
  EXPECT_GE(life.freed, program.size());
  program.tensor_freed(5);
  EXPECT_EQ(life.freed, 3U);
}

TEST_F(Recording, a_tensor_that_never_took_a_place_has_no_life) {
  program.tensor_freed(7);
  EXPECT_TRUE(program.tensors().empty());
}

}  // namespace
}  // namespace trnsim::program
