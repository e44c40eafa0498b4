#include "program/file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "isa/choices.h"
#include "program/arguments.h"
#include "program/bytes.h"

namespace trnsim::program {
namespace {

constexpr std::string_view kMagic = "trnsim program\n";
constexpr std::uint32_t kVersion = 3;
constexpr std::size_t kHead = 15 + 4 + 8 + 8;  // magic, version, length and checksum of the rest

// FNV-1a: changes with any single byte.
std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

template <class Int>
void append_fixed(std::string& out, Int value) {
  for (std::size_t i = 0; i < sizeof(Int); ++i) out += static_cast<char>(value >> (8 * i));
}

template <class Int>
Int fixed(std::string_view bytes, std::size_t at) {
  Int value = 0;
  for (std::size_t i = 0; i < sizeof(Int); ++i)
    value |= static_cast<Int>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

// ---- writing

class Writer {
 public:
  std::string launches(std::span<const Recording> launches) {
    out_.number(launches.size());
    for (const Recording& launch : launches) {
      out_.text(launch.kernel);
      out_.text(launch.chip);
      out_.number(launch.cores.size());
      for (const Program* core : launch.cores) write(*core);
    }
    return out_.take();
  }

 private:
  void write(const Program& program) {
    out_.number(static_cast<std::uint64_t>(program.dialect));
    layouts(program);
    out_.number(program.sites().size());
    for (const Site& site : program.sites()) {
      out_.text(site.file);
      out_.integer(site.line);
      out_.text(site.function);
    }
    out_.number(program.tensors().size());
    for (const auto& [id, life] : program.tensors()) tensor(id, life);
    out_.number(program.indirections().size());
    for (const memory::Indirection& each : program.indirections()) {
      write_tile(out_, each.extent);
      write_tile(out_, each.index);
    }
    out_.number(program.size());
    last_.assign(program.sites().size(), kNone);
    for (std::size_t i = 0; i < program.size(); ++i) instruction(program, program[i]);
    names(program);
    orders(program);
  }

  // The instructions that occur, with their arguments.
  void layouts(const Program& program) {
    local_.assign(isa::instruction_table().size(), kNone);
    std::vector<std::uint16_t> used;
    for (std::size_t i = 0; i < program.size(); ++i) {
      std::uint64_t& local = local_[program[i].opcode];
      if (local != kNone) continue;
      local = used.size();
      used.push_back(program[i].opcode);
    }
    out_.number(used.size());
    for (const std::uint16_t opcode : used) {
      const isa::InstructionType& type = isa::instruction_table()[opcode];
      out_.text(type.info.name);
      out_.number(type.fields.size());
      for (const isa::FieldInfo& field : type.fields) {
        out_.text(field.name);
        out_.text(isa::kind_name(field.kind));
      }
    }
  }

  void tensor(std::uint32_t id, const TensorLife& life) {
    out_.number(id);
    out_.text(life.name);
    out_.number(static_cast<std::uint64_t>(life.space));
    out_.number(static_cast<std::uint64_t>(life.partitions));
    out_.integer(life.offset);
    out_.integer(life.bytes);
    out_.number(life.born);
    out_.number(life.freed + 1);  // "never" becomes 0
  }

  // A line that repeats an instruction with the same arguments does not write them again.
  void instruction(const Program& program, const Instruction& instruction) {
    const isa::InstructionType& type = program.type(instruction);
    out_.number(local_[instruction.opcode]);
    out_.number(instruction.site);
    std::uint64_t& last = last_[instruction.site];
    out_.number(last == instruction.args);
    if (last == instruction.args) return;
    last = instruction.args;
    const auto* args = static_cast<const std::byte*>(program.args(instruction));
    for (const isa::FieldInfo& field : type.fields) write_field(out_, field, args + field.offset);
  }

  void names(const Program& program) {
    std::vector<std::size_t> named;
    for (std::size_t i = 0; i < program.size(); ++i) {
      if (program.name(i)) named.push_back(i);
    }
    out_.number(named.size());
    for (const std::size_t i : named) {
      out_.number(i);
      out_.text(*program.name(i));
    }
  }

  void orders(const Program& program) {
    out_.number(program.orders().size());
    for (const auto& [consumer, producers] : program.orders()) {
      out_.number(consumer);
      out_.number(producers.size());
      for (const std::uint32_t producer : producers) out_.number(producer);
    }
    out_.number(program.in_order().size());
    for (const Stretch& stretch : program.in_order()) {
      out_.number(stretch.first);
      out_.number(stretch.last);
    }
    out_.number(program.rounds().size());
    for (const Round& round : program.rounds()) {
      out_.number(round.instructions.first);
      out_.number(round.instructions.last);
      out_.number(round.before == Round::kNone ? 0 : round.before + std::uint64_t{1});
    }
  }

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  ByteWriter out_;
  std::vector<std::uint64_t> local_;  // by opcode: the number of its layout
  std::vector<std::uint64_t> last_;   // by site: the arguments written last
};

// ---- reading

// How an instruction's arguments stand in the file: the fields of this version's struct, in the
// order of the file's.
struct Layout {
  const isa::InstructionType* type;
  std::vector<const isa::FieldInfo*> fields;
};

class Reader {
 public:
  Reader(std::string_view body, const std::string& origin) : in_(body, origin) {}

  std::vector<LoadedRecording> launches() {
    std::vector<LoadedRecording> launches(in_.count("number of launches"));
    for (LoadedRecording& launch : launches) {
      launch.kernel = in_.text();
      launch.chip = in_.text();
      launch.cores.resize(in_.count("number of cores"));
      if (launch.cores.empty()) in_.damaged("number of cores");
      for (Program& core : launch.cores) read(core);
    }
    if (!in_.at_end()) in_.damaged("end");
    return launches;
  }

 private:
  void read(Program& program) {
    program.dialect = static_cast<Dialect>(in_.number_up_to(1, "dialect"));
    layouts_.clear();
    for (std::size_t n = in_.count("number of instructions"); n > 0; --n)
      layouts_.push_back(layout());
    sites_.clear();
    for (std::size_t n = in_.count("number of lines"); n > 0; --n) {
      Site site;
      site.file = in_.text();
      site.line = static_cast<int>(in_.integer_within(INT32_MAX, "line"));
      site.function = in_.text();
      sites_.push_back(program.intern(site));
    }
    for (std::size_t n = in_.count("number of tensors"); n > 0; --n) tensor(program);
    const std::size_t indirections = in_.count("number of indirections");
    if (indirections > UINT16_MAX + 1) in_.damaged("number of indirections");
    for (std::size_t i = 0; i < indirections; ++i) {
      const isa::Tile extent = read_tile(in_), index = read_tile(in_);
      if (extent.indirection != 0 || index.indirection != 0) in_.damaged("indirection");
      program.define(static_cast<std::uint16_t>(i), {extent, index});
    }
    const std::size_t size = in_.count("number of instructions");
    arguments_.assign(sites_.size(), {});
    for (std::size_t i = 0; i < size; ++i) instruction(program);
    names(program);
    orders(program);
  }

  Layout layout() {
    const std::string& name = in_.text();
    Layout layout{isa::find_instruction(name), {}};
    if (!layout.type) in_.refuse("this version of trnsim has no instruction '{}'", name);
    const std::vector<isa::FieldInfo>& known = layout.type->fields;
    for (std::size_t n = in_.count("number of arguments"); n > 0; --n) {
      const std::string& field = in_.text();
      const std::string& kind = in_.text();
      const auto it = std::find_if(known.begin(), known.end(),
                                   [&](const isa::FieldInfo& f) { return f.name == field; });
      if (it == known.end()) in_.refuse("this version's {} has no argument '{}'", name, field);
      if (isa::kind_name(it->kind) != kind) {
        in_.refuse("argument '{}' of {} is {} in the file and {} in this version of trnsim", field,
                   name, kind, isa::kind_name(it->kind));
      }
      if (std::find(layout.fields.begin(), layout.fields.end(), &*it) != layout.fields.end())
        in_.damaged("argument");
      layout.fields.push_back(&*it);
    }
    // An optional argument that came later has the value that it had before: its default.
    for (const isa::FieldInfo& field : known) {
      if (field.required &&
          std::find(layout.fields.begin(), layout.fields.end(), &field) == layout.fields.end())
        in_.refuse("{} has no argument '{}', which this version of trnsim needs", name, field.name);
    }
    return layout;
  }

  void tensor(Program& program) {
    constexpr std::int64_t kMost = std::int64_t{1} << 48;
    const auto id = static_cast<std::uint32_t>(in_.number_up_to(UINT32_MAX, "tensor"));
    TensorLife life;
    life.name = in_.text();
    life.space = static_cast<memory::Space>(in_.number_up_to(2, "memory"));
    life.partitions = static_cast<int>(in_.number_up_to(memory::kPartitionsMax, "partitions"));
    life.offset = in_.integer_within(kMost, "offset");
    life.bytes = in_.integer_within(kMost, "size");
    if (life.offset < 0 || life.bytes < 0) in_.damaged("tensor");
    life.born = in_.number();
    life.freed = in_.number() - 1;
    program.tensor_lived(id, std::move(life));
  }

  void instruction(Program& program) {
    if (layouts_.empty() || sites_.empty()) in_.damaged("instruction");
    const Layout& layout = layouts_[in_.number_up_to(layouts_.size() - 1, "instruction")];
    const std::size_t site = in_.number_up_to(sites_.size() - 1, "line");
    Arguments& arguments = arguments_[site];
    if (in_.number_up_to(1, "repetition") == 1) {
      if (arguments.of != layout.type) in_.damaged("repetition");
    } else {
      arguments = {layout.type, layout.type->defaults};
      for (const isa::FieldInfo* field : layout.fields)
        read_field(in_, *field, arguments.bytes.data() + field->offset);
      check(program, layout, arguments.bytes);
    }
    program.append(*layout.type, isa::Engine::kUnknown, sites_[site], arguments.bytes.data());
  }

  void check(const Program& program, const Layout& layout, const std::vector<std::byte>& bytes) {
    for (const isa::FieldInfo& field : layout.type->fields) {
      if (field.kind == isa::FieldKind::kTile && field.required &&
          !reinterpret_cast<const isa::Tile*>(bytes.data() + field.offset)->present())
        in_.damaged("argument");
    }
    isa::for_each_tile(*layout.type, bytes.data(), [&](const isa::FieldInfo&, const isa::Tile& t) {
      if (t.indirection == 0) return;
      const auto& known = program.indirections();
      if (t.indirection >= known.size() || !known[t.indirection].extent.present() ||
          !known[t.indirection].index.present())
        in_.damaged("indirection");
    });
  }

  void names(Program& program) {
    for (std::size_t n = in_.count("number of names"); n > 0; --n) {
      const std::size_t i = in_.number();
      if (i >= program.size()) in_.damaged("name");
      program.give_name(i, in_.text());
    }
  }

  void orders(Program& program) {
    for (std::size_t n = in_.count("number of orders"); n > 0; --n) {
      const std::uint64_t consumer = in_.number();
      if (consumer >= program.size()) in_.damaged("order");
      for (std::size_t k = in_.count("number of producers"); k > 0; --k) {
        const std::uint64_t producer = in_.number();
        if (producer >= consumer) in_.damaged("order");
        program.depend(static_cast<std::uint32_t>(consumer), static_cast<std::uint32_t>(producer));
      }
    }
    std::uint64_t end = 0;
    for (std::size_t n = in_.count("number of stretches"); n > 0; --n) {
      const Stretch stretch{in_.number(), in_.number()};
      if (stretch.first < end || stretch.last <= stretch.first || stretch.last > program.size())
        in_.damaged("stretch");
      program.keep_in_order(stretch);
      end = stretch.last;
    }
    for (std::size_t n = in_.count("number of rounds"); n > 0; --n) {
      const Stretch stretch{in_.number(), in_.number()};
      const std::uint64_t before = in_.number();
      if (stretch.last < stretch.first || stretch.last > program.size() ||
          before > program.rounds().size())
        in_.damaged("round");
      program.add_round(
          {stretch, before == 0 ? Round::kNone : static_cast<std::uint32_t>(before - 1)});
    }
  }

  struct Arguments {
    const isa::InstructionType* of = nullptr;
    std::vector<std::byte> bytes;
  };

  ByteReader in_;
  std::vector<Layout> layouts_;
  std::vector<std::uint32_t> sites_;
  std::vector<Arguments> arguments_;  // by site: the ones read last
};

}  // namespace

std::string encode(std::span<const Recording> launches) {
  const std::string body = Writer().launches(launches);
  std::string file(kMagic);
  append_fixed(file, kVersion);
  append_fixed(file, static_cast<std::uint64_t>(body.size()));
  append_fixed(file, checksum(body));
  return file + body;
}

std::vector<LoadedRecording> decode(std::string_view file, const std::string& origin) {
  const std::string_view magic = file.substr(0, kMagic.size());
  if (magic.empty() || magic != kMagic.substr(0, magic.size())) {
    config_error("{}: not a program that trnsim saved (trnsim run --save FILE script.py)", origin);
  }
  if (file.size() < kHead)
    config_error("{}: cut short: {} bytes, and the head alone has {}", origin, file.size(), kHead);
  const auto version = fixed<std::uint32_t>(file, kMagic.size());
  if (version != kVersion) {
    config_error("{}: version {} of the format; this trnsim reads version {}. Save it again",
                 origin, version, kVersion);
  }
  const std::string_view body = file.substr(kHead);
  const auto length = fixed<std::uint64_t>(file, kMagic.size() + 4);
  if (body.size() < length)
    config_error("{}: cut short: {} of {} bytes", origin, body.size(), length);
  if (body.size() > length)
    config_error("{}: damaged: {} bytes too long", origin, body.size() - length);
  if (checksum(body) != fixed<std::uint64_t>(file, kMagic.size() + 12))
    config_error("{}: damaged: its checksum does not fit. Save it again", origin);
  return Reader(body, origin).launches();
}

std::vector<LoadedRecording> load(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    config_error("{}: a folder, not a program", path.string());
  std::ifstream file(path, std::ios::binary);
  if (!file) config_error("{}: {}", path.string(), std::strerror(errno));
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) config_error("{}: cannot be read", path.string());
  return decode(bytes, path.string());
}

}  // namespace trnsim::program
