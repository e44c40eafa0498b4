// Programs saved and loaded: nothing is lost, and whatever else a file holds is refused in words.
#include "program/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "base/error.h"
#include "isa/choices.h"
#include "program/arguments.h"

namespace trnsim::program {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  isa::Tile tile() {
    isa::Tile tile;
    tile.dims = static_cast<std::uint8_t>(1 + below(isa::Tile::kMaxDims));
    tile.space = static_cast<memory::Space>(below(3));
    tile.dtype = below(2) ? numerics::Dtype::kBfloat16 : numerics::Dtype::kFloat32;
    tile.tensor = static_cast<std::uint32_t>(1 + below(300));
    tile.offset = below(100000);
    tile.start_partition = static_cast<std::uint16_t>(32 * below(2));
    for (int d = 0; d < tile.dims; ++d) {
      tile.sizes[d] = 1 + below(64);
      tile.strides[d] = below(4096) - 2048;
    }
    return tile;
  }

  // Something in every field, as far as its kind allows.
  std::vector<std::byte> arguments(const isa::InstructionType& type) {
    std::vector<std::byte> args = type.defaults;
    for (const isa::FieldInfo& field : type.fields) fill(field, args.data() + field.offset);
    return args;
  }

 private:
  template <class T>
  static void put(std::byte* at, const T& value) {
    std::memcpy(at, &value, sizeof value);
  }

  void fill(const isa::FieldInfo& field, std::byte* at) {
    using enum isa::FieldKind;
    if (isa::is_enumerated(field.kind)) return;  // choices_keep_their_names below
    switch (field.kind) {
      case kTile:
        if (field.required || below(2)) put(at, tile());
        return;
      case kScalarOrTile: {
        isa::ScalarOrTile value;
        value.kind = static_cast<isa::ScalarOrTile::Kind>(below(3));
        if (value.is_tile()) value.tile = tile();
        if (value.kind == isa::ScalarOrTile::Kind::kScalar) value.scalar = 0.1 * below(100);
        return put(at, value);
      }
      case kAffinePattern:
        return put(at, isa::AffinePattern{{-3, 1}, {4, 5}, 2});
      case kIntList:
        return put(at, isa::IntList{{1, -2, 255}, 3});
      case kOptionalInt:
        return put(at, isa::OptionalInt{-7, true});
      case kInt:
        return put(at, std::int32_t{below(2) ? INT32_MIN : 12});
      case kFloat:
        return put(at, below(2) ? 1.5f : -std::numeric_limits<float>::infinity());
      case kNumber:
        return put(at, 4294967295.0);
      case kBool:
        return put(at, below(2) == 1);
      case kTileList: {
        isa::TileList list;
        list.size = 1 + below(isa::TileList::kMax);
        for (int i = 0; i < list.size; ++i) list.tiles[i] = tile();
        return put(at, list);
      }
      default:
        return put(at, isa::NumberList{{0.5, -2}, 2});
    }
  }

  std::mt19937 random_;
};

// Every instruction at least once, with names, tensors and an indirection.
Program sample(unsigned seed) {
  Draw draw(seed);
  Program program;
  memory::Indirection indirection{draw.tile(), draw.tile()};
  program.define(3, indirection);
  for (int round = 0; round < 2; ++round) {
    for (const isa::InstructionType& type : isa::instruction_table()) {
      const auto args = draw.arguments(type);
      const std::uint32_t site = program.intern({"kernel.py", type.opcode, "kernel"});
      for (int repeat = draw.below(3); repeat >= 0; --repeat)
        program.append(type, isa::Engine::kUnknown, site, args.data());
      if (draw.below(8) == 0) program.name_last("step " + std::to_string(program.size()));
    }
  }
  program.tensor_lived(7, {"scores", memory::Space::kPsum, 64, 2048, 512, 3, 9});
  program.tensor_lived(9, {"x", memory::Space::kHbm, 1, 0, 1 << 20, 0, ~std::uint64_t{0}});
  return program;
}

std::string saved(const Program& program) {
  const Recording recording{"kernel", "trainium2", {&program}};
  return encode(std::span(&recording, 1));
}

std::string refusal(const std::string& file) {
  try {
    decode(file, "p.trn");
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kConfig);
    return error.what();
  }
  return "loaded";
}

// With a checksum that fits, as only this test can make one: the reader itself must hold.
std::string with_checksum(std::string file) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::size_t i = 35; i < file.size(); ++i)
    hash = (hash ^ static_cast<unsigned char>(file[i])) * 0x100000001b3;
  const std::uint64_t length = file.size() - 35;
  for (int i = 0; i < 8; ++i) {
    file[19 + i] = static_cast<char>(length >> (8 * i));
    file[27 + i] = static_cast<char>(hash >> (8 * i));
  }
  return file;
}

TEST(ProgramFile, what_is_loaded_is_what_was_saved) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const Program program = sample(seed);
    const std::vector<LoadedRecording> loaded = decode(saved(program), "p.trn");
    ASSERT_EQ(loaded.size(), 1U);
    EXPECT_EQ(loaded[0].kernel, "kernel");
    EXPECT_EQ(loaded[0].chip, "trainium2");
    const Program& copy = loaded[0].cores.at(0);
    ASSERT_EQ(copy.size(), program.size());
    for (std::size_t i = 0; i < copy.size(); ++i) {
      ASSERT_EQ(copy[i].opcode, program[i].opcode);
      ASSERT_EQ(copy[i].args, program[i].args);
      EXPECT_EQ(copy.sites()[copy[i].site], program.sites()[program[i].site]);
      const std::string* name = program.name(i);
      ASSERT_EQ(copy.name(i) != nullptr, name != nullptr);
      if (name) {
        EXPECT_EQ(*copy.name(i), *name);
      }
      // Field by field: the bytes between fields mean nothing.
      ByteWriter a, b;
      for (const isa::FieldInfo& field : program.type(program[i]).fields) {
        write_field(a, field,
                    static_cast<const std::byte*>(program.args(program[i])) + field.offset);
        write_field(b, field, static_cast<const std::byte*>(copy.args(copy[i])) + field.offset);
      }
      EXPECT_EQ(a.take(), b.take());
    }
    EXPECT_EQ(copy.tensors().at(7).name, "scores");
    EXPECT_EQ(copy.tensors().at(7).offset, 2048);
    EXPECT_EQ(copy.tensors().at(9).freed, ~std::uint64_t{0});
    EXPECT_EQ(copy.indirections().at(3).index.tensor, program.indirections().at(3).index.tensor);
    EXPECT_EQ(saved(copy), saved(program));
  }
}

TEST(ProgramFile, choices_keep_their_names) {
  for (const isa::Choice& choice : isa::choices()) {
    EXPECT_EQ(isa::choice_name(choice.kind, choice.code), choice.name);
    EXPECT_EQ(isa::choice_code(choice.kind, choice.name), choice.code);
    const isa::FieldInfo field{"f", choice.kind, isa::Access::kNone, true, 0};
    ByteWriter out;
    const auto code = static_cast<std::byte>(choice.code);
    write_field(out, field, &code);
    auto back = std::byte{0xff};
    const std::string bytes = out.take();  // the reader keeps a view
    ByteReader in(bytes, "p.trn");
    read_field(in, field, &back);
    EXPECT_EQ(back, code);
  }
  EXPECT_FALSE(isa::choice_code(isa::FieldKind::kEngine, "warp"));
  EXPECT_EQ(isa::choice_name(isa::FieldKind::kEngine, 99), "");
}

TEST(ProgramFile, repeated_lines_are_stored_once) {
  Program program;
  const isa::InstructionType& type = *isa::find_instruction("memset");
  const auto args = Draw(1).arguments(type);
  const auto site = program.intern({"kernel.py", 1, "kernel"});
  program.append(type, isa::Engine::kVector, site, args.data());
  const std::size_t one = saved(program).size();
  for (int i = 0; i < 1000; ++i) program.append(type, isa::Engine::kVector, site, args.data());
  EXPECT_LE(saved(program).size(), one + 3001);
}

TEST(ProgramFile, several_launches_and_cores_keep_their_order) {
  const Program a = sample(1), b = sample(2);
  const Recording launches[] = {{"first", "trainium2", {&a, &b}}, {"second", "trainium3", {&b}}};
  const auto loaded = decode(encode(launches), "p.trn");
  ASSERT_EQ(loaded.size(), 2U);
  EXPECT_EQ(loaded[0].cores.size(), 2U);
  EXPECT_EQ(loaded[1].kernel, "second");
  EXPECT_EQ(saved(loaded[0].cores[1]), saved(b));
}

// The bytes themselves: a change here breaks the files that people have, and needs a new version.
TEST(ProgramFile, the_format_stays_as_it_is) {
  Program program;
  program.intern({"k.py", 5, "k"});
  const std::string file = saved(program);
  EXPECT_EQ(file.substr(0, 15), "trnsim program\n");
  EXPECT_EQ(file.substr(15, 4), std::string("\x03\0\0\0", 4));
  const std::string body(
      "\x04\x06kernel\x09trainium2\x04k.py\x01k"  // texts
      "\x01\x00\x01\x01"                          // one launch: kernel, chip, one core
      "\x00\x00"                                  // dialect; no instruction occurs
      "\x01\x02\x0a\x03"                          // one line: k.py, 5 (zigzag), k
      // tensors, indirections, instructions, names, orders, stretches, rounds
      "\x00\x00\x00\x00\x00\x00\x00",
      25 + 4 + 2 + 4 + 7);
  EXPECT_EQ(file.substr(35), body);
}

TEST(ProgramFile, other_files_and_versions_are_refused_by_name) {
  EXPECT_THAT(refusal(""), HasSubstr("p.trn: not a program that trnsim saved"));
  EXPECT_THAT(refusal("#!/usr/bin/python\nimport nki"), HasSubstr("not a program"));
  std::string file = saved(sample(1));
  file[15] = 1;
  EXPECT_THAT(refusal(file), HasSubstr("version 1 of the format; this trnsim reads version 3"));
}

TEST(ProgramFile, orders_and_the_dialect_come_back) {
  Program program = sample(1);
  program.dialect = Dialect::kBeta1;
  program.depend(2, 0);
  program.depend(2, 1);
  program.keep_in_order({0, 2});
  program.add_round({{0, 2}, Round::kNone});
  program.add_round({{2, 3}, 0});
  const Program loaded = std::move(decode(saved(program), "p.trn")[0].cores[0]);
  EXPECT_EQ(loaded.dialect, Dialect::kBeta1);
  EXPECT_EQ(loaded.orders(), program.orders());
  EXPECT_EQ(loaded.in_order(), program.in_order());
  EXPECT_EQ(loaded.rounds(), program.rounds());
}

TEST(ProgramFile, what_this_version_does_not_know_is_refused_by_name) {
  const std::string file = saved(sample(1));
  const auto renamed = [&](std::string_view from, std::string_view to) {
    std::string other = file;
    const std::size_t at = other.find(std::string(1, static_cast<char>(from.size())) += from);
    EXPECT_NE(at, std::string::npos) << from;
    other.replace(at + 1, from.size(), to);
    return refusal(with_checksum(other));
  };
  EXPECT_THAT(renamed("nc_matmul", "nc_natmul"),
              HasSubstr("this version of trnsim has no instruction 'nc_natmul'"));
  EXPECT_THAT(renamed("stationary", "stationery"),
              HasSubstr("this version's nc_matmul has no argument 'stationery'"));
  EXPECT_THAT(renamed("float32", "float99"),
              HasSubstr("this version of trnsim has no dtype 'float99'"));
  EXPECT_THAT(renamed("True or False", "True or Maybe"),
              HasSubstr("is True or Maybe in the file and True or False in this version"));
}

TEST(ProgramFile, every_truncation_is_refused) {
  const std::string file = saved(sample(1));
  for (std::size_t size = 0; size < file.size(); size += size < 64 ? 1 : 97) {
    const std::string message = refusal(file.substr(0, size));
    ASSERT_THAT(message, AllOf(StartsWith("p.trn: "), testing::Not("loaded"))) << size;
    if (size >= 15) {
      EXPECT_THAT(message, HasSubstr("cut short"));
    }
  }
  EXPECT_THAT(refusal(file + "x"), HasSubstr("1 bytes too long"));
}

TEST(ProgramFile, every_flipped_bit_is_noticed) {
  const std::string file = saved(sample(1));
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    std::string damaged = file;
    const std::size_t at = i < 35 ? static_cast<std::size_t>(i) : random() % file.size();
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << (random() % 8)));
    ASSERT_THAT(refusal(damaged), StartsWith("p.trn: ")) << at;
  }
}

TEST(ProgramFile, damage_that_the_checksum_cannot_show_is_survived) {
  const std::string file = saved(sample(1));
  std::mt19937 random(6);
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = file;
    for (unsigned n = random() % 3; n < 3; ++n)
      damaged[35 + random() % (file.size() - 35)] = static_cast<char>(random());
    if (random() % 4 == 0) damaged.resize(35 + random() % (file.size() - 35));
    const std::string message = refusal(with_checksum(damaged));
    ASSERT_TRUE(message == "loaded" || message.starts_with("p.trn: ")) << message;
  }
}

TEST(ProgramFile, a_file_that_cannot_be_read_is_an_error) {
  EXPECT_THROW(load("/nowhere/p.trn"), Error);
  EXPECT_THROW(load("/tmp"), Error);
}

}  // namespace
}  // namespace trnsim::program
