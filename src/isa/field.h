// How an instruction describes its arguments: once, as a tuple of fields. Parsing Python calls,
// printing, hazards and documentation are derived from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "isa/operand.h"
#include "numerics/functions.h"

namespace trnsim::isa {

enum class FieldKind : std::uint8_t {
  kTile,
  kScalarOrTile,
  kAluOp,
  kActivation,
  kEngine,
  kReduceCommand,
  kPerfMode,
  kDgeMode,
  kOobMode,
  kDmaEngine,
  kAffinePattern,
  kIntList,
  kOptionalInt,
  kInt,
  kFloat,
  kNumber,  // double: keeps 32-bit integers exact
  kBool,
  kTileList,
  kNumberList,
};

// kReadPart, kWritePart: only some of the tile's bytes, which the instruction knows and checks, or
// marks as written when it executes, itself. kOrder: none of them, but accesses before and after
// keep their order.
enum class Access : std::uint8_t {
  kNone,
  kRead,
  kReadPart,
  kWrite,
  kWritePart,
  kReadWrite,
  kOrder
};

constexpr bool reads(Access access) {
  return access == Access::kRead || access == Access::kReadPart || access == Access::kReadWrite;
}
// Nothing of the tile may be unwritten.
constexpr bool reads_whole(Access access) {
  return access == Access::kRead || access == Access::kReadWrite;
}
constexpr bool writes(Access access) {
  return access == Access::kWrite || access == Access::kWritePart || access == Access::kReadWrite;
}

// The type-erased form: where in the struct the argument lies and how to treat it.
struct FieldInfo {
  std::string_view name;
  FieldKind kind;
  Access access;
  bool required;
  std::uint16_t offset;
  bool indirectable = false;
};

template <class Owner, class T>
struct Field {
  std::string_view name;
  T Owner::* member;
  Access access;
  bool required;
  bool indirectable = false;
};

// A tile that may be indirect (NkiTensor.indirect): columns gathered or scattered by an index.
template <class Owner, class T>
constexpr Field<Owner, T> indirectable(Field<Owner, T> field) {
  field.indirectable = true;
  return field;
}
template <class Owner, class T>
constexpr Field<Owner, T> out(std::string_view name, T Owner::* member) {
  return {name, member, Access::kWrite, true};
}
template <class Owner, class T>
constexpr Field<Owner, T> out_part(std::string_view name, T Owner::* member) {
  return {name, member, Access::kWritePart, true};
}
// Written only where some condition holds, or accumulated into: also read.
template <class Owner, class T>
constexpr Field<Owner, T> inout(std::string_view name, T Owner::* member) {
  return {name, member, Access::kReadWrite, true};
}
template <class Owner, class T>
constexpr Field<Owner, T> in(std::string_view name, T Owner::* member) {
  return {name, member, Access::kRead, true};
}
template <class Owner, class T>
constexpr Field<Owner, T> in_part(std::string_view name, T Owner::* member) {
  return {name, member, Access::kReadPart, true};
}
template <class Owner, class T>
constexpr Field<Owner, T> arg(std::string_view name, T Owner::* member) {
  return {name, member, Access::kNone, true};
}
template <class Owner, class T>
constexpr Field<Owner, T> order(std::string_view name, T Owner::* member) {
  return {name, member, Access::kOrder, true};
}
// Optional; the member's initialiser is the default.
template <class Owner, class T>
constexpr Field<Owner, T> opt(std::string_view name, T Owner::* member,
                              Access access = Access::kNone) {
  return {name, member, access, false};
}
template <class Owner, class T>
constexpr Field<Owner, T> opt_in(std::string_view name, T Owner::* member) {
  return {name, member, Access::kRead, false};
}
template <class Owner, class T>
constexpr Field<Owner, T> opt_out(std::string_view name, T Owner::* member) {
  return {name, member, Access::kWrite, false};
}

constexpr FieldKind kind_of(const Tile*) { return FieldKind::kTile; }
constexpr FieldKind kind_of(const ScalarOrTile*) { return FieldKind::kScalarOrTile; }
constexpr FieldKind kind_of(const AluOp*) { return FieldKind::kAluOp; }
constexpr FieldKind kind_of(const numerics::ActivationFunction*) { return FieldKind::kActivation; }
constexpr FieldKind kind_of(const Engine*) { return FieldKind::kEngine; }
constexpr FieldKind kind_of(const ReduceCommand*) { return FieldKind::kReduceCommand; }
constexpr FieldKind kind_of(const PerfMode*) { return FieldKind::kPerfMode; }
constexpr FieldKind kind_of(const DgeMode*) { return FieldKind::kDgeMode; }
constexpr FieldKind kind_of(const OobMode*) { return FieldKind::kOobMode; }
constexpr FieldKind kind_of(const DmaEngine*) { return FieldKind::kDmaEngine; }
constexpr FieldKind kind_of(const AffinePattern*) { return FieldKind::kAffinePattern; }
constexpr FieldKind kind_of(const IntList*) { return FieldKind::kIntList; }
constexpr FieldKind kind_of(const OptionalInt*) { return FieldKind::kOptionalInt; }
constexpr FieldKind kind_of(const std::int32_t*) { return FieldKind::kInt; }
constexpr FieldKind kind_of(const float*) { return FieldKind::kFloat; }
constexpr FieldKind kind_of(const double*) { return FieldKind::kNumber; }
constexpr FieldKind kind_of(const bool*) { return FieldKind::kBool; }
constexpr FieldKind kind_of(const TileList*) { return FieldKind::kTileList; }
constexpr FieldKind kind_of(const NumberList*) { return FieldKind::kNumberList; }

// The fields of `Owner` with their places in memory.
template <class Owner>
std::vector<FieldInfo> field_infos() {
  std::vector<FieldInfo> infos;
  const Owner probe{};
  const auto add = [&](const auto& field) {
    const auto* member = &(probe.*field.member);
    const auto offset =
        reinterpret_cast<const char*>(member) - reinterpret_cast<const char*>(&probe);
    infos.push_back({field.name, kind_of(member), field.access, field.required,
                     static_cast<std::uint16_t>(offset), field.indirectable});
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, Owner::kFields);
  return infos;
}

}  // namespace trnsim::isa
