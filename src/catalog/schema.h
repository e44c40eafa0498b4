// The schema: one row per field, and nothing about a field is written twice. Reading, checking,
// `chips show`, `chips diff` and the JSON output all walk these rows. Whether a field must be given
// follows from the C++ type of its member: Number, string and bool must, std::optional<...> and
// lists need not. Members of an optional group (such as the clock ramp, absent on NeuronCore-v2)
// must be given as soon as one of them is.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "catalog/fact.h"

namespace trnsim::catalog {

using Slot = std::variant<Number*, std::optional<Number>*, std::string*,
                          std::optional<std::string>*, bool*, std::vector<std::string>*>;

// Where a field's value goes.
struct Access {
  Slot (*slot)(void* record);
  bool required;        // the member has no "absent" state
  bool optional_group;  // ... but the group around it has
  enum class Kind { kNumber, kText, kFlag, kList } kind;
};

struct Field {
  std::string path;
  std::string_view unit;  // empty for anything but numbers
  Access access;
  std::string_view meaning;
  void* (*enclosing)(void* record) = nullptr;  // steps from a chip to the core inside it
};

struct Schema {
  std::string_view kind;
  std::vector<Field> fields;

  const Field* find(std::string_view path) const;
  bool is_group(std::string_view path) const;  // "tensor" when there is a "tensor.clock"
  std::vector<std::string> paths() const;
};

const Schema& core_schema();
const Schema& chip_schema();  // its own rows, then those of the core under "core."
const Schema& instance_schema();
const Schema& system_schema();
const Schema& cluster_schema();
const Schema& gpu_schema();
const Schema& fabric_schema();
const Schema& training_schema();

// ---- how a row names its member: at<Core, &Core::tensor, &TensorEngine::clock>
// -------------------------------------

namespace detail {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

template <auto First, auto... Rest, class Object>
Slot slot_in(Object& object) {
  auto& member = object.*First;
  if constexpr (sizeof...(Rest) == 0) {
    return &member;
  } else if constexpr (kIsOptional<std::remove_reference_t<decltype(member)>>) {
    if (!member) member.emplace();
    return slot_in<Rest...>(*member);
  } else {
    return slot_in<Rest...>(member);
  }
}

template <class Root, auto... Path>
Slot slot_of(void* root) {
  return slot_in<Path...>(*static_cast<Root*>(root));
}

template <class Class, class Member>
Member member_type(Member Class::*);

template <auto... Path>
constexpr Access::Kind kind_of() {
  Access::Kind kind{};
  auto look = [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_same_v<T, std::vector<std::string>>)
      kind = Access::Kind::kList;
    else if constexpr (std::is_same_v<T, bool>)
      kind = Access::Kind::kFlag;
    else if constexpr (std::is_same_v<T, std::string> ||
                       std::is_same_v<T, std::optional<std::string>>)
      kind = Access::Kind::kText;
    else
      kind = Access::Kind::kNumber;
  };
  (look(std::type_identity<decltype(member_type(Path))>{}), ...);  // the last one wins
  return kind;
}

template <auto... Path>
constexpr Access access_of(Slot (*slot)(void*)) {
  bool last_optional = false, any_optional = false;
  auto look = [&]<class T>(std::type_identity<T>) {
    any_optional = any_optional || last_optional;
    last_optional = kIsOptional<T>;
  };
  (look(std::type_identity<decltype(member_type(Path))>{}), ...);
  const Access::Kind kind = kind_of<Path...>();
  return {slot, !last_optional && kind != Access::Kind::kList, any_optional, kind};
}

}  // namespace detail

template <class Root, auto... Path>
inline constexpr Access at = detail::access_of<Path...>(&detail::slot_of<Root, Path...>);

}  // namespace trnsim::catalog
