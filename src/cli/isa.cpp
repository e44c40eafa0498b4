#include "cli/isa.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/wrapped.h"
#include "isa/choices.h"
#include "isa/instruction.h"

namespace trnsim::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view access_text(isa::Access access) {
  switch (access) {
    case isa::Access::kNone:
      return "";
    case isa::Access::kRead:
      return "read";
    case isa::Access::kReadPart:
      return "read in part";
    case isa::Access::kWrite:
      return "written";
    case isa::Access::kWritePart:
      return "written in part";
    case isa::Access::kReadWrite:
      return "read and written";
    case isa::Access::kOrder:
      return "ordered by";
  }
  return {};
}

std::string since_text(int since) {
  return since <= 1 ? "every generation" : fmt::format("NeuronCore-v{} and later", since);
}

const isa::InstructionType& instruction_named(const std::string& name) {
  if (const isa::InstructionType* type = isa::find_instruction(name)) return *type;
  std::vector<std::string> known;
  for (const isa::InstructionType& type : isa::instruction_table())
    known.emplace_back(type.info.name);
  const std::string nearest = nearest_name(name, known);
  config_error("no instruction is called {}{}; trnsim isa lists them", name,
               nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest));
}

void print_head(const isa::InstructionType& type, std::ostream& out) {
  out << type.info.name << '\n';
  print_wrapped(out, type.info.summary, 4);
  print_wrapped(out, fmt::format("engines: {}; {}", type.info.engines, since_text(type.info.since)),
                4);
  print_wrapped(out, fmt::format("cost: {}", type.info.cost), 4);
  print_wrapped(out, fmt::format("source: {}", type.info.source), 4);
}

void print_fields(const isa::InstructionType& type, std::ostream& out) {
  out << "    arguments:\n";
  for (const isa::FieldInfo& field : type.fields) {
    std::string line =
        fmt::format("      {:<24} {:<26} {:<17} {}", field.name, isa::kind_name(field.kind),
                    access_text(field.access), field.required ? "" : "optional");
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

Json instruction_json(const isa::InstructionType& type) {
  Json json{{"name", type.info.name},       {"summary", type.info.summary},
            {"engines", type.info.engines}, {"since_generation", type.info.since},
            {"cost", type.info.cost},       {"source", type.info.source}};
  json["arguments"] = Json::array();
  for (const isa::FieldInfo& field : type.fields) {
    json["arguments"].push_back({{"name", field.name},
                                 {"kind", isa::kind_name(field.kind)},
                                 {"access", access_text(field.access)},
                                 {"required", field.required}});
  }
  return json;
}

void list(bool as_json, std::ostream& out) {
  Json json = Json::array();
  for (const isa::InstructionType& type : isa::instruction_table()) {
    if (as_json) {
      json.push_back(instruction_json(type));
    } else {
      print_head(type, out);
    }
  }
  if (as_json) {
    out << json.dump(2) << '\n';
  } else {
    out << "\nThe arguments of one of them: trnsim isa NAME.\n";
  }
}

}  // namespace

void add_isa_command(CLI::App& app, const Context& context) {
  struct Options {
    bool json = false;
    std::string name;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("isa", "The instructions: engines, generations, cost and its source");
  command->add_option("name", options->name, "One instruction, with its arguments");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([=] {
    if (options->name.empty()) return list(options->json, context.out);
    const isa::InstructionType& type = instruction_named(options->name);
    if (options->json) {
      context.out << instruction_json(type).dump(2) << '\n';
    } else {
      print_head(type, context.out);
      print_fields(type, context.out);
    }
  });
}

}  // namespace trnsim::cli
