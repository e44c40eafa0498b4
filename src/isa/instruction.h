// The type-erased description of an instruction: everything that the rest of the simulator derives
// from its one file.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "isa/cost.h"
#include "isa/field.h"
#include "isa/meeting.h"
#include "isa/rules.h"
#include "isa/state.h"

namespace trnsim::isa {

// What an instruction's file states in words. `cost` repeats the formula of its cost() for readers.
struct Info {
  std::string_view name;
  std::string_view summary;
  std::string_view engines;
  std::string_view cost;
  std::string_view source;
  int since = 1;  // first NeuronCore generation that has it
};

// The contract of an instruction's argument struct; a missing part is a compile error that names
// the part.
template <class T>
concept Instruction =
    std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T> &&
    requires(const T& a, const Rules& rules, CoreState& state, const CostModel& model) {
      { T::kInfo } -> std::convertible_to<Info>;
      T::kFields;
      { a.engine_on(1) } -> std::same_as<Engine>;  // engine it runs on, for a generation
      a.check(rules);
      a.execute(state);
      { a.cost(model) } -> std::same_as<Cost>;
    };

// Operands in HBM of which an instruction touches the rows that an index names: its first `count`
// elements, down the partitions first. No index: the operands are touched as they stand.
struct RowsByIndex {
  const Tile* index = nullptr;
  std::int64_t count = 0;
  std::array<const Tile*, 2> rows{};

  bool among(const Tile& tile) const {
    return index && std::find(rows.begin(), rows.end(), &tile) != rows.end();
  }
};

struct InstructionType {
  Info info;
  std::vector<FieldInfo> fields;
  std::vector<FieldInfo> operands;  // those of the fields that hold tiles
  std::vector<std::byte> defaults;  // the argument struct with every member at its initialiser
  Engine (*engine)(const void* args, int generation);
  void (*check)(const void* args, const Rules& rules);
  void (*execute)(const void* args, CoreState& state);
  Cost (*cost)(const void* args, const CostModel& model);
  // Null where it does not concern other cores.
  Meeting (*meeting)(const void* args);
  // The rows that its values choose, if any; null where none ever are.
  RowsByIndex (*by_index)(const void* args);

  std::uint16_t opcode = 0;

  std::size_t size() const { return defaults.size(); }
};

// The [P, 1] tiles that an instruction reads as scalars; the engine fetches each one apart.
template <class T>
int scalar_tiles(const T& args) {
  int count = 0;
  const auto add = [&](const auto& value) {
    if constexpr (std::is_same_v<decltype(value), const ScalarOrTile&>)
      count += value.is_tile() && value.tile.free_elements() == 1;
  };
  std::apply([&](const auto&... field) { (add(args.*field.member), ...); }, T::kFields);
  return count;
}

template <Instruction T>
InstructionType describe() {
  const T prototype{};
  const auto* bytes = reinterpret_cast<const std::byte*>(&prototype);
  InstructionType type{
      .info = T::kInfo,
      .fields = field_infos<T>(),
      .operands = {},
      .defaults = {bytes, bytes + sizeof(T)},
      .engine = [](const void* a,
                   int generation) { return static_cast<const T*>(a)->engine_on(generation); },
      .check = [](const void* a, const Rules& rules) { static_cast<const T*>(a)->check(rules); },
      .execute = [](const void* a, CoreState& state) { static_cast<const T*>(a)->execute(state); },
      .cost =
          [](const void* a, const CostModel& model) {
            const T& args = *static_cast<const T*>(a);
            Cost cost = args.cost(model);
            const Engine engine = args.engine_on(model.core().version());
            cost.latency.count += model.operand_read(engine).count * scalar_tiles(args);
            return cost;
          },
      .meeting = nullptr,
      .by_index = nullptr,
  };
  std::copy_if(type.fields.begin(), type.fields.end(), std::back_inserter(type.operands),
               [](const FieldInfo& field) {
                 return field.kind == FieldKind::kTile || field.kind == FieldKind::kScalarOrTile ||
                        field.kind == FieldKind::kTileList;
               });
  if constexpr (requires(const T& a) { a.meeting(); })
    type.meeting = [](const void* a) { return static_cast<const T*>(a)->meeting(); };
  if constexpr (requires(const T& a) { a.by_index(); })
    type.by_index = [](const void* a) { return static_cast<const T*>(a)->by_index(); };
  return type;
}

// Calls fn(field, tile) for every tile among the arguments.
template <class Fn>
void for_each_tile(const InstructionType& type, const void* args, Fn&& fn) {
  const auto* base = static_cast<const std::byte*>(args);
  for (const FieldInfo& field : type.operands) {
    if (field.kind == FieldKind::kTile) {
      const auto& tile = *reinterpret_cast<const Tile*>(base + field.offset);
      if (tile.present()) fn(field, tile);
    } else if (field.kind == FieldKind::kScalarOrTile) {
      const auto& value = *reinterpret_cast<const ScalarOrTile*>(base + field.offset);
      if (value.is_tile()) fn(field, value.tile);
    } else if (field.kind == FieldKind::kTileList) {
      const auto& list = *reinterpret_cast<const TileList*>(base + field.offset);
      for (std::int32_t i = 0; i < list.size; ++i) fn(field, list.tiles[i]);
    }
  }
}

// Every instruction, in the order of their names. The list is generated from the folder isa/insn.
std::span<const InstructionType> instruction_table();
const InstructionType* find_instruction(std::string_view name);

}  // namespace trnsim::isa
