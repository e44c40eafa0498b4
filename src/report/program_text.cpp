#include "report/program_text.h"

#include <fmt/core.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "program/operand_text.h"
#include "report/instruction_text.h"

namespace trnsim::report {
namespace {

using Json = nlohmann::ordered_json;
using isa::FieldKind;

struct Moved {
  std::int64_t read = 0, written = 0;
};

Moved moved(const program::Program& program, std::size_t i) {
  Moved sum;
  isa::for_each_tile(program.type(program[i]), program.args(program[i]),
                     [&](const isa::FieldInfo& field, const isa::Tile& tile) {
                       if (isa::reads(field.access)) sum.read += tile.bytes();
                       if (isa::writes(field.access)) sum.written += tile.bytes();
                     });
  return sum;
}

template <class T>
const T& member(const void* args, const isa::FieldInfo& field) {
  return *reinterpret_cast<const T*>(static_cast<const std::byte*>(args) + field.offset);
}

template <class List>
std::string list_text(const List& values, int size) {
  std::string text = "[";
  for (int i = 0; i < size; ++i) text += fmt::format("{}{}", i ? ", " : "", values[i]);
  return text + "]";
}

// The value of an argument that is no tile.
std::string value_text(const void* args, const isa::FieldInfo& field) {
  switch (field.kind) {
    case FieldKind::kAluOp:
      return std::string(numerics::name(member<isa::AluOp>(args, field)));
    case FieldKind::kActivation:
      return std::string(numerics::name(member<numerics::ActivationFunction>(args, field)));
    case FieldKind::kEngine:
      return std::string(isa::engine_name(member<isa::Engine>(args, field)));
    case FieldKind::kScalarOrTile:
      return fmt::format("{}", member<isa::ScalarOrTile>(args, field).scalar);
    case FieldKind::kFloat:
      return fmt::format("{}", member<float>(args, field));
    case FieldKind::kNumber:
      return fmt::format("{}", member<double>(args, field));
    case FieldKind::kBool:
      return member<bool>(args, field) ? "true" : "false";
    case FieldKind::kInt:
      return fmt::format("{}", member<std::int32_t>(args, field));
    case FieldKind::kOptionalInt:
      return fmt::format("{}", member<isa::OptionalInt>(args, field).value);
    case FieldKind::kIntList: {
      const auto& list = member<isa::IntList>(args, field);
      return list_text(list.values, list.size);
    }
    case FieldKind::kNumberList: {
      const auto& list = member<isa::NumberList>(args, field);
      return list_text(list.values, list.size);
    }
    case FieldKind::kAffinePattern: {
      const auto& pattern = member<isa::AffinePattern>(args, field);
      return "steps " + list_text(pattern.steps, pattern.dims) + " counts " +
             list_text(pattern.counts, pattern.dims);
    }
    default:  // the other enumerations, by the vendor's code
      return fmt::format("{}", static_cast<int>(member<std::uint8_t>(args, field)));
  }
}

std::size_t size_of(FieldKind kind) {
  switch (kind) {
    case FieldKind::kFloat:
      return sizeof(float);
    case FieldKind::kNumber:
      return sizeof(double);
    case FieldKind::kBool:
      return sizeof(bool);
    case FieldKind::kInt:
      return sizeof(std::int32_t);
    case FieldKind::kOptionalInt:
      return sizeof(isa::OptionalInt);
    case FieldKind::kIntList:
      return sizeof(isa::IntList);
    case FieldKind::kNumberList:
      return sizeof(isa::NumberList);
    case FieldKind::kAffinePattern:
      return sizeof(isa::AffinePattern);
    case FieldKind::kScalarOrTile:
      return sizeof(isa::ScalarOrTile);
    default:
      return sizeof(std::uint8_t);
  }
}

bool is_default(const isa::InstructionType& type, const void* args, const isa::FieldInfo& field) {
  if (field.kind == FieldKind::kScalarOrTile) {
    const auto& value = member<isa::ScalarOrTile>(args, field);
    const auto& usual = member<isa::ScalarOrTile>(type.defaults.data(), field);
    return value.kind == usual.kind && value.scalar == usual.scalar;
  }
  return std::memcmp(static_cast<const std::byte*>(args) + field.offset,
                     type.defaults.data() + field.offset, size_of(field.kind)) == 0;
}

// Calls fn(field) for each argument that is no tile and not the default.
template <class Fn>
void for_each_value(const isa::InstructionType& type, const void* args, Fn&& fn) {
  for (const isa::FieldInfo& field : type.fields) {
    if (field.kind == FieldKind::kTile || field.kind == FieldKind::kTileList) continue;
    if (field.kind == FieldKind::kScalarOrTile && member<isa::ScalarOrTile>(args, field).is_tile())
      continue;
    if (!is_default(type, args, field)) fn(field);
  }
}

std::string instruction_text(const program::Program& program, std::size_t i) {
  const isa::InstructionType& type = program.type(program[i]);
  const void* args = program.args(program[i]);
  const auto [read, written] = moved(program, i);
  std::string text =
      fmt::format("#{} {} {}", i, isa::engine_name(program[i].engine), type.info.name);
  if (const std::string* name = program.name(i)) text += " '" + *name + "'";
  if (const program::Site& at = site(program, i); !at.file.empty())
    text += fmt::format(" {} in {}", place(at), at.function);
  text += fmt::format(" reads {} bytes, writes {} bytes\n", read, written);
  isa::for_each_tile(type, args, [&](const isa::FieldInfo& field, const isa::Tile& tile) {
    text += fmt::format("    {} = {}\n", field.name, program::operand_text(program, tile));
  });
  for_each_value(type, args, [&](const isa::FieldInfo& field) {
    text += fmt::format("    {} = {}\n", field.name, value_text(args, field));
  });
  for (const std::uint32_t producer : program.producers(static_cast<std::uint32_t>(i)))
    text += fmt::format("    after #{}\n", producer);
  return text;
}

Json operand_json(const program::Program& program, const isa::FieldInfo& field,
                  const isa::Tile& tile) {
  Json json{{"argument", field.name},
            {"reads", isa::reads(field.access)},
            {"writes", isa::writes(field.access)}};
  const auto life = program.tensors().find(tile.tensor);
  if (life != program.tensors().end()) json["tensor"] = life->second.name;
  json["memory"] = memory::space_name(tile.space);
  if (tile.on_chip()) json["start_partition"] = tile.start_partition;
  if (tile.indirection) json["columns_by_index"] = true;
  json["offset_bytes"] = tile.offset;
  json["dtype"] = numerics::info(tile.dtype).name;
  json["shape"] = Json::array();
  json["strides_bytes"] = Json::array();
  for (int d = 0; d < tile.dims; ++d) {
    json["shape"].push_back(tile.sizes[d]);
    if (d > 0 || !tile.on_chip()) json["strides_bytes"].push_back(tile.strides[d]);
  }
  return json;
}

Json instruction_json(const program::Program& program, std::size_t i) {
  const isa::InstructionType& type = program.type(program[i]);
  const void* args = program.args(program[i]);
  const auto [read, written] = moved(program, i);
  const program::Site& at = site(program, i);
  Json json{
      {"index", i}, {"engine", isa::engine_name(program[i].engine)}, {"opcode", type.info.name}};
  if (const std::string* name = program.name(i)) json["name"] = *name;
  if (!at.file.empty()) {
    json["file"] = at.file;
    json["line"] = at.line;
    json["function"] = at.function;
  }
  json["read_bytes"] = read;
  json["written_bytes"] = written;
  json["operands"] = Json::array();
  isa::for_each_tile(type, args, [&](const isa::FieldInfo& field, const isa::Tile& tile) {
    json["operands"].push_back(operand_json(program, field, tile));
  });
  json["arguments"] = Json::object();
  for_each_value(type, args, [&](const isa::FieldInfo& field) {
    json["arguments"][std::string(field.name)] = value_text(args, field);
  });
  json["after"] = Json::array();
  for (const std::uint32_t producer : program.producers(static_cast<std::uint32_t>(i)))
    json["after"].push_back(producer);
  return json;
}

// User text may hold anything; what is no UTF-8 is replaced.
std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string program_text(std::span<const Run> runs) {
  std::string text;
  for (const Run& run : runs) {
    text += fmt::format("{} on core {} of {}: {} instructions\n", run.kernel, run.core,
                        run.chip->name, run.program->size());
    for (std::size_t i = 0; i < run.program->size(); ++i) text += instruction_text(*run.program, i);
  }
  return text;
}

std::string program_json(std::span<const Run> runs) {
  std::string text = "{\n\"format\": \"trnsim program\",\n\"format_version\": 1,\n\"runs\": [";
  const char* separator = "\n";
  for (const Run& run : runs) {
    text += fmt::format("{}{{\"kernel\": {}, \"chip\": {}, \"core\": {}, \"instructions\": [",
                        separator, dumped(run.kernel), dumped(run.chip->name), run.core);
    for (std::size_t i = 0; i < run.program->size(); ++i)
      text += (i ? ",\n  " : "\n  ") + dumped(instruction_json(*run.program, i));
    text += "\n]}";
    separator = ",\n";
  }
  return text + "\n]\n}\n";
}

}  // namespace trnsim::report
