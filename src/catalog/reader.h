// Reads one TOML file of the catalogue into facts, checking each key against a schema. Every
// complaint begins with file:line:column and names the nearest known word.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/fact.h"
#include "catalog/schema.h"

namespace trnsim::catalog {

struct Document {
  Record record;     // facts in schema order
  std::string base;  // of a user's file: the chip it changes
};

enum class Strictness {
  kCatalogue,  // every number needs a unit, a source and a confidence
  kUserFile,   // a bare number is fine: the schema's unit, a guess by the user
};

Document read_document(const std::filesystem::path& file, const Schema& schema,
                       Strictness strictness);

// Puts facts into the members that the schema names. Throws ConfigError when a required one is
// missing.
void fill(void* record, const Schema& schema, const std::vector<Fact>& facts,
          const std::string& file);

// `changes` replace facts of the same path in `facts`; new ones are put where the schema has them.
void override_facts(std::vector<Fact>& facts, const std::vector<Fact>& changes,
                    const Schema& schema);

}  // namespace trnsim::catalog
