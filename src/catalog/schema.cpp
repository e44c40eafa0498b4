#include "catalog/schema.h"

#include <algorithm>

namespace trnsim::catalog {

const Field* Schema::find(std::string_view path) const {
  auto found = std::find_if(fields.begin(), fields.end(),
                            [&](const Field& field) { return field.path == path; });
  return found == fields.end() ? nullptr : &*found;
}

bool Schema::is_group(std::string_view path) const {
  return std::any_of(fields.begin(), fields.end(), [&](const Field& field) {
    return field.path.size() > path.size() && field.path.starts_with(path) &&
           field.path[path.size()] == '.';
  });
}

std::vector<std::string> Schema::paths() const {
  std::vector<std::string> all;
  for (const Field& field : fields) all.push_back(field.path);
  return all;
}

}  // namespace trnsim::catalog
