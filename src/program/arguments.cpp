#include "program/arguments.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "isa/choices.h"

namespace trnsim::program {
namespace {

using isa::FieldKind;

// What no program comes near: products and sums of such numbers still fit into 64 bits.
constexpr std::int64_t kReach = std::int64_t{1} << 48;  // bytes, elements

template <class T>
const T& value(const std::byte* at) {
  return *reinterpret_cast<const T*>(at);
}
template <class T>
T& value(std::byte* at) {
  return *reinterpret_cast<T*>(at);
}

constexpr memory::Space kSpaces[] = {memory::Space::kSbuf, memory::Space::kPsum,
                                     memory::Space::kHbm};

memory::Space read_space(ByteReader& in) {
  return kSpaces[in.number_up_to(std::size(kSpaces) - 1, "memory")];
}

template <class List, class Write>
void write_list(ByteWriter& out, const List& list, Write&& write) {
  out.number(static_cast<std::uint64_t>(list.size));
  for (std::int32_t i = 0; i < list.size; ++i) write(i);
}

template <class List, class Read>
void read_list(ByteReader& in, List& list, std::size_t most, Read&& read) {
  list = {};
  list.size = static_cast<std::int32_t>(in.number_up_to(most, "length of a list"));
  for (std::int32_t i = 0; i < list.size; ++i) read(i);
}

std::int32_t read_int32(ByteReader& in) {
  const std::int64_t value = in.integer();
  if (value < INT32_MIN || value > INT32_MAX) in.damaged("32-bit integer");
  return static_cast<std::int32_t>(value);
}

}  // namespace

void write_tile(ByteWriter& out, const isa::Tile& tile) {
  out.number(tile.dims);
  if (!tile.present()) return;
  out.number(static_cast<std::uint64_t>(tile.space));
  out.text(numerics::info(tile.dtype).name);
  out.number(tile.tensor);
  out.number(tile.start_partition);
  out.number(tile.indirection);
  out.integer(tile.offset);
  for (int d = 0; d < tile.dims; ++d) {
    out.integer(tile.strides[d]);
    out.integer(tile.sizes[d]);
  }
}

isa::Tile read_tile(ByteReader& in) {
  isa::Tile tile;
  tile.dims = static_cast<std::uint8_t>(in.number_up_to(isa::Tile::kMaxDims, "dimensions"));
  if (!tile.present()) return tile;
  tile.space = read_space(in);
  const std::string& dtype = in.text();
  const auto known = numerics::dtype_from_name(dtype);
  if (!known) in.refuse("this version of trnsim has no dtype '{}'", dtype);
  tile.dtype = *known;
  tile.tensor = static_cast<std::uint32_t>(in.number_up_to(UINT32_MAX, "tensor"));
  tile.start_partition = static_cast<std::uint16_t>(in.number_up_to(UINT16_MAX, "partition"));
  tile.indirection = static_cast<std::uint16_t>(in.number_up_to(UINT16_MAX, "indirection"));
  tile.offset = in.integer_within(kReach, "offset");
  std::int64_t elements = 1;
  for (int d = 0; d < tile.dims; ++d) {
    tile.strides[d] = in.integer_within(kReach, "stride");
    tile.sizes[d] = static_cast<std::int32_t>(in.integer_within(INT32_MAX, "size"));
    const std::int64_t size = tile.sizes[d], at_least_one = std::max<std::int64_t>(size, 1);
    if (size < 0 || std::max(elements, std::abs(tile.strides[d])) > kReach / at_least_one)
      in.damaged("tile");
    elements *= at_least_one;
  }
  if (tile.on_chip() && tile.start_partition + tile.partitions() > memory::kPartitionsMax)
    in.damaged("partitions");
  return tile;
}

void write_field(ByteWriter& out, const isa::FieldInfo& field, const std::byte* at) {
  if (isa::is_enumerated(field.kind))
    return out.text(isa::choice_name(field.kind, value<std::uint8_t>(at)));
  switch (field.kind) {
    case FieldKind::kTile:
      return write_tile(out, value<isa::Tile>(at));
    case FieldKind::kScalarOrTile: {
      const auto& operand = value<isa::ScalarOrTile>(at);
      out.number(static_cast<std::uint64_t>(operand.kind));
      if (operand.is_tile()) write_tile(out, operand.tile);
      if (operand.kind == isa::ScalarOrTile::Kind::kScalar) out.real(operand.scalar);
      return;
    }
    case FieldKind::kAffinePattern: {
      const auto& pattern = value<isa::AffinePattern>(at);
      out.number(static_cast<std::uint64_t>(pattern.dims));
      for (std::int32_t d = 0; d < pattern.dims; ++d) {
        out.integer(pattern.steps[d]);
        out.integer(pattern.counts[d]);
      }
      return;
    }
    case FieldKind::kIntList: {
      const auto& list = value<isa::IntList>(at);
      return write_list(out, list, [&](std::int32_t i) { out.integer(list.values[i]); });
    }
    case FieldKind::kTileList: {
      const auto& list = value<isa::TileList>(at);
      return write_list(out, list, [&](std::int32_t i) { write_tile(out, list.tiles[i]); });
    }
    case FieldKind::kNumberList: {
      const auto& list = value<isa::NumberList>(at);
      return write_list(out, list, [&](std::int32_t i) { out.real(list.values[i]); });
    }
    case FieldKind::kOptionalInt: {
      const auto& optional = value<isa::OptionalInt>(at);
      out.number(optional.present);
      return out.integer(optional.value);
    }
    case FieldKind::kInt:
      return out.integer(value<std::int32_t>(at));
    case FieldKind::kFloat:
      return out.real(value<float>(at));
    case FieldKind::kNumber:
      return out.real(value<double>(at));
    case FieldKind::kBool:
      return out.number(value<bool>(at));
    default:
      internal_error("{} is of a kind that cannot be saved", field.name);
  }
}

void read_field(ByteReader& in, const isa::FieldInfo& field, std::byte* at) {
  if (isa::is_enumerated(field.kind)) {
    const std::string& name = in.text();
    const auto code = isa::choice_code(field.kind, name);
    if (!code) in.refuse("this version of trnsim has no {} '{}'", isa::kind_name(field.kind), name);
    value<std::uint8_t>(at) = *code;
    return;
  }
  switch (field.kind) {
    case FieldKind::kTile:
      value<isa::Tile>(at) = read_tile(in);
      return;
    case FieldKind::kScalarOrTile: {
      auto& operand = value<isa::ScalarOrTile>(at);
      operand = {};
      operand.kind = static_cast<isa::ScalarOrTile::Kind>(in.number_up_to(2, "kind of operand"));
      if (operand.is_tile()) operand.tile = read_tile(in);
      if (operand.kind == isa::ScalarOrTile::Kind::kScalar) operand.scalar = in.real();
      return;
    }
    case FieldKind::kAffinePattern: {
      auto& pattern = value<isa::AffinePattern>(at);
      pattern = {};
      pattern.dims = static_cast<std::int32_t>(in.number_up_to(pattern.steps.size(), "pattern"));
      for (std::int32_t d = 0; d < pattern.dims; ++d) {
        pattern.steps[d] = read_int32(in);
        pattern.counts[d] = read_int32(in);
      }
      return;
    }
    case FieldKind::kIntList: {
      auto& list = value<isa::IntList>(at);
      return read_list(in, list, list.values.size(),
                       [&](std::int32_t i) { list.values[i] = read_int32(in); });
    }
    case FieldKind::kTileList: {
      auto& list = value<isa::TileList>(at);
      return read_list(in, list, list.tiles.size(), [&](std::int32_t i) {
        list.tiles[i] = read_tile(in);
        if (!list.tiles[i].present()) in.damaged("list of tiles");
      });
    }
    case FieldKind::kNumberList: {
      auto& list = value<isa::NumberList>(at);
      return read_list(in, list, list.values.size(),
                       [&](std::int32_t i) { list.values[i] = in.real(); });
    }
    case FieldKind::kOptionalInt: {
      auto& optional = value<isa::OptionalInt>(at);
      optional.present = in.number_up_to(1, "flag") != 0;
      optional.value = in.integer();
      return;
    }
    case FieldKind::kInt:
      value<std::int32_t>(at) = read_int32(in);
      return;
    case FieldKind::kFloat:
      value<float>(at) = static_cast<float>(in.real());
      return;
    case FieldKind::kNumber:
      value<double>(at) = in.real();
      return;
    case FieldKind::kBool:
      value<bool>(at) = in.number_up_to(1, "flag") != 0;
      return;
    default:
      internal_error("{} is of a kind that cannot be loaded", field.name);
  }
}

}  // namespace trnsim::program
