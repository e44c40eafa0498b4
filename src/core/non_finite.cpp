#include "core/non_finite.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "memory/stretch.h"
#include "numerics/convert.h"
#include "program/operand_text.h"

namespace trnsim::core {
namespace {

using isa::Access;
using isa::Tile;

constexpr double kMasked = numerics::info(numerics::Dtype::kBfloat16).max_finite;

bool watched(const Tile& tile) {
  const numerics::DtypeInfo& info = numerics::info(tile.dtype);
  return info.is_float && info.packed == 1;
}

std::vector<float> values_of(const memory::Memory& memory, const Tile& tile) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(tile.bytes()));
  memory::gather(memory, tile, bytes.data());
  std::vector<float> values(static_cast<std::size_t>(tile.elements()) *
                            numerics::info(tile.dtype).packed);
  numerics::to_float(tile.dtype, bytes.data(), tile.element_bytes(), values.data(),
                     static_cast<std::size_t>(tile.elements()));
  return values;
}

// "[3, 17]": where element `index`, counted row by row, lies in the tile.
std::string place_text(const Tile& tile, std::size_t index) {
  std::string text = "]";
  for (int d = tile.dims - 1; d >= 0; --d) {
    const auto size = static_cast<std::size_t>(tile.sizes[d]);
    text = fmt::format("{}{}", index % size, (d == tile.dims - 1 ? "" : ", ") + text);
    index /= size;
  }
  return "[" + text;
}

std::string range_text(const float* values, std::size_t count) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  std::size_t nan = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::isnan(values[i])) {
      ++nan;
      continue;
    }
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  const std::string range = nan == count ? "" : fmt::format("{:.9g} to {:.9g}", low, high);
  return nan == 0 ? range : fmt::format("{}{}{} NaN", range, range.empty() ? "" : ", ", nan);
}

// The part of an operand that belongs to one element of the result, as far as sizes tell: the
// element in the same place, the row of the same partition, otherwise all of it.
std::string values_at(const Tile& result, std::size_t index, const Tile& tile,
                      const std::vector<float>& values) {
  const auto row = static_cast<std::size_t>(tile.free_elements());
  if (tile.partitions() == result.partitions() && values.size() == row * tile.partitions()) {
    const std::size_t partition = index / static_cast<std::size_t>(result.free_elements());
    if (tile.free_elements() == result.free_elements())
      return fmt::format("there {:.9g}", values[index]);
    if (row == 1) return fmt::format("in that row {:.9g}", values[partition]);
    return "in that row " + range_text(values.data() + partition * row, row);
  }
  return "in all " + range_text(values.data(), values.size());
}

}  // namespace

NonFiniteWatch::NonFiniteWatch(const isa::InstructionType& type, const void* args,
                               memory::Memory& memory)
    : type_(type), args_(args), memory_(memory) {
  isa::for_each_tile(type, args, [&](const isa::FieldInfo& field, const Tile& tile) {
    operands_.push_back({&field, tile, values_of(memory, tile)});
    if (!isa::reads(field.access) || !watched(tile)) return;
    for (const float value : operands_.back().before) {
      reads_nan_ = reads_nan_ || std::isnan(value);
      reads_huge_ = reads_huge_ || std::abs(value) >= kMasked;
    }
  });
}

// An immediate that the destination cannot hold as a finite number.
bool NonFiniteWatch::on_purpose(const Tile& written) const {
  const double largest = std::min(numerics::info(written.dtype).max_finite, kMasked);
  const auto* base = static_cast<const std::byte*>(args_);
  for (const isa::FieldInfo& field : type_.fields) {
    const std::byte* at = base + field.offset;
    double value = 0;
    if (field.kind == isa::FieldKind::kFloat) {
      value = *reinterpret_cast<const float*>(at);
    } else if (field.kind == isa::FieldKind::kNumber) {
      value = *reinterpret_cast<const double*>(at);
    } else if (field.kind == isa::FieldKind::kScalarOrTile) {
      const auto& operand = *reinterpret_cast<const isa::ScalarOrTile*>(at);
      if (operand.present() && !operand.is_tile()) value = operand.scalar;
    }
    const auto huge = [&](double v) { return std::isnan(v) || std::abs(v) > largest; };
    if (huge(value)) return true;
    if (field.kind == isa::FieldKind::kNumberList) {
      const auto& list = *reinterpret_cast<const isa::NumberList*>(at);
      if (std::any_of(list.values.begin(), list.values.begin() + list.size, huge)) return true;
    }
  }
  return false;
}

NonFiniteWatch::Culprit NonFiniteWatch::culprit() const {
  for (const Operand& operand : operands_) {
    const bool written = isa::writes(operand.field->access);
    if (!written || !watched(operand.tile) || on_purpose(operand.tile)) continue;
    std::vector<float> values = values_of(memory_, operand.tile);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool made = std::isnan(values[i])   ? !reads_nan_
                        : std::isinf(values[i]) ? !reads_nan_ && !reads_huge_
                                                : false;
      // What a scatter leaves as it was.
      const bool kept =
          operand.field->access == Access::kWritePart && !std::isfinite(operand.before[i]);
      if (made && !kept) return {&operand, std::move(values), i};
    }
  }
  return {};
}

void NonFiniteWatch::check(const program::Program& program) const {
  if (const Culprit found = culprit(); found.operand) stop(program, found);
}

void NonFiniteWatch::stop(const program::Program& program, const Culprit& culprit) const {
  const std::size_t number = program.size() - 1;
  const program::Site& site = program.sites()[program[number].site];
  const Tile& result = culprit.operand->tile;
  const float bad = culprit.values[culprit.index];
  const auto count = std::count_if(culprit.values.begin(), culprit.values.end(),
                                   [](float v) { return !std::isfinite(v); });
  std::string text = fmt::format(
      "{}: {}{} is the first {} of this kernel, made from none; {} of {} elements are not finite. "
      "Instruction {}, {}:{} in {}",
      type_.info.name, culprit.operand->field->name, place_text(result, culprit.index),
      std::isnan(bad) ? "NaN" : "infinity", count, culprit.values.size(), number, site.file,
      site.line, site.function);
  for (const Operand& operand : operands_) {
    const bool is_result = &operand == culprit.operand;
    text += fmt::format("\n  {} = {}", operand.field->name,
                        program::operand_text(program, operand.tile));
    if (is_result) {
      text += fmt::format("\n      now {}, there {:.9g}",
                          range_text(culprit.values.data(), culprit.values.size()), bad);
    }
    if (!isa::reads(operand.field->access)) continue;
    text += fmt::format("\n      {}{}, {}", is_result ? "before " : "",
                        range_text(operand.before.data(), operand.before.size()),
                        values_at(result, culprit.index, operand.tile, operand.before));
  }
  throw NonFinite(std::move(text));
}

}  // namespace trnsim::core
