// Facts: what the catalogue says about one thing, flat and in a fixed order, each with its source.
// The structs that the models read (core.h, chip.h, ...) are filled from facts; showing and
// comparing work on the facts themselves.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "catalog/number.h"

namespace trnsim::catalog {

using Value = std::variant<double, bool, std::string, std::vector<std::string>>;

// A figure from another source, kept so that a reader can judge the choice.
struct Alternative {
  Value value;
  std::string source;
  Confidence confidence = Confidence::kGuess;
};

struct Fact {
  std::string path;     // "core.tensor.clock"
  std::string meaning;  // one line, from the schema
  Value value;          // numbers in the schema's unit
  std::string unit;     // empty for names and switches
  std::string source;   // a public document; empty for plain names
  Confidence confidence = Confidence::kDocumented;
  std::string date;  // for what changes with time, such as a price
  std::string note;
  std::vector<Alternative> alternatives;
  std::string file;
  int line = 0;
};

// A named thing of the catalogue: a chip, an instance, ...
struct Record {
  std::string kind;
  std::string name;
  std::string title;
  std::vector<std::string> aliases;
  std::string note;
  std::string file;
  std::vector<Fact> facts;

  const Fact* fact(std::string_view path) const;
};

// "2.4", "true", "4x4 torus": the same text on every host.
std::string value_text(const Value& value);

}  // namespace trnsim::catalog
