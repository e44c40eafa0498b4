// The catalogue as text for people (100 columns) and as JSON for programs.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "catalog/catalog.h"

namespace trnsim::cli {

struct Difference {
  std::string path;
  const catalog::Fact* left = nullptr;  // null: only the other one says anything
  const catalog::Fact* right = nullptr;
};

// Facts whose values differ, in the order of the schema.
std::vector<Difference> differences(const catalog::Record& left, const catalog::Record& right);

void print_list(const catalog::Catalog& catalog, std::ostream& out);
void print_record(const catalog::Record& record, std::ostream& out);
void print_differences(const catalog::Record& left, const catalog::Record& right,
                       std::ostream& out);

nlohmann::ordered_json list_json(const catalog::Catalog& catalog);
nlohmann::ordered_json record_json(const catalog::Record& record);
nlohmann::ordered_json differences_json(const catalog::Record& left, const catalog::Record& right);

}  // namespace trnsim::cli
