// The values of enumerated arguments, by the names that NKI gives them. Front ends offer them, and
// saved programs hold them, under these names.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "isa/field.h"

namespace trnsim::isa {

// "tile", "integer or None", ...
std::string_view kind_name(FieldKind kind);

struct Choice {
  FieldKind kind;
  std::string_view group;  // the class of nki.isa
  std::string_view name;
  std::uint8_t code;
};

// All but operators and activation functions, which numerics names.
std::span<const Choice> choices();

// Whether arguments of this kind are one of several names, and one byte.
bool is_enumerated(FieldKind kind);
// Empty for a code that no name has.
std::string_view choice_name(FieldKind kind, std::uint8_t code);
std::optional<std::uint8_t> choice_code(FieldKind kind, std::string_view name);

}  // namespace trnsim::isa
