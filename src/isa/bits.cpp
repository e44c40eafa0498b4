#include "isa/bits.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "memory/stretch.h"
#include "numerics/convert.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {
namespace {

// Calls fn(host address) for every element, row after row.
template <class Byte, class Fn>
void for_each_element(const CoreState& state, const Tile& tile, Byte* base, Fn&& fn) {
  const memory::Walk walk = memory::walk_of(tile);
  const std::ptrdiff_t pitch = tile.on_chip() ? state.memory.partition_pitch(tile.space) : 0;
  for (int row = 0; row < (tile.on_chip() ? tile.partitions() : 1); ++row) {
    memory::for_each_run(walk, 0, [&](std::int64_t offset) {
      for (std::int64_t i = 0; i < walk.inner_size(); ++i)
        fn(base + row * pitch + offset + i * walk.inner_stride());
    });
  }
}

template <class T>
std::int64_t load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

std::int64_t load_integer(Dtype dtype, const std::byte* from) {
  switch (dtype) {
    case Dtype::kInt8:
      return load<std::int8_t>(from);
    case Dtype::kInt16:
      return load<std::int16_t>(from);
    case Dtype::kInt32:
      return load<std::int32_t>(from);
    case Dtype::kUint16:
      return load<std::uint16_t>(from);
    case Dtype::kUint32:
      return load<std::uint32_t>(from);
    default:
      break;
  }
  switch (numerics::info(dtype).bytes) {  // floats: their bit patterns
    case 1:
      return load<std::uint8_t>(from);
    case 2:
      return load<std::uint16_t>(from);
    default:
      return load<std::uint32_t>(from);
  }
}

}  // namespace

void copy_bits(CoreState& state, const Tile& dst, const Tile& source) {
  std::int64_t left = dst.bytes();
  memory::StretchCursor from(state.memory, source), to(state.memory, dst);
  if (!memory::overlaps(dst, source)) {
    while (left > 0) {
      const std::int64_t step = std::min(from.left(), to.left());
      std::memcpy(to.at(), from.at(), step);
      from.advance(step);
      to.advance(step);
      left -= step;
    }
    return;
  }
  std::vector<std::byte> staged(static_cast<std::size_t>(left));
  for (std::int64_t done = 0; done < left;) {
    const std::int64_t step = from.left();
    std::memcpy(staged.data() + done, from.at(), step);
    from.advance(step);
    done += step;
  }
  for (std::int64_t done = 0; done < left;) {
    const std::int64_t step = to.left();
    std::memcpy(to.at(), staged.data() + done, step);
    to.advance(step);
    done += step;
  }
}

std::vector<std::int64_t> read_integers(const CoreState& state, const Tile& tile) {
  std::vector<std::int64_t> values;
  values.reserve(static_cast<std::size_t>(tile.elements()));
  const std::byte* base = state.memory.data(tile);
  for_each_element(state, tile, base,
                   [&](const std::byte* at) { values.push_back(load_integer(tile.dtype, at)); });
  return values;
}

void write_integers(CoreState& state, const Tile& tile, const std::vector<std::int64_t>& values) {
  const std::int64_t* next = values.data();
  const int bytes = tile.element_bytes();
  for_each_element(state, tile, state.memory.data(tile),
                   [&](std::byte* at) { std::memcpy(at, next++, bytes); });
}

std::int64_t integer_op(AluOp op, std::int64_t a, std::int64_t b, Dtype dtype) {
  const int width = numerics::info(dtype).bytes * 8;
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  switch (op) {
    case AluOp::kAdd:
      return a + b;
    case AluOp::kSubtract:
      return a - b;
    case AluOp::kMultiply:
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) *
                                       static_cast<std::uint64_t>(b));
    case AluOp::kMaximum:
      return std::max(a, b);
    case AluOp::kMinimum:
      return std::min(a, b);
    case AluOp::kEqual:
      return a == b;
    case AluOp::kNotEqual:
      return a != b;
    case AluOp::kGreater:
      return a > b;
    case AluOp::kGreaterEqual:
      return a >= b;
    case AluOp::kLess:
      return a < b;
    case AluOp::kLessEqual:
      return a <= b;
    case AluOp::kLogicalAnd:
      return a && b;
    case AluOp::kLogicalOr:
      return a || b;
    case AluOp::kLogicalXor:
      return (a != 0) != (b != 0);
    case AluOp::kBitwiseAnd:
      return a & b;
    case AluOp::kBitwiseOr:
      return a | b;
    case AluOp::kBitwiseXor:
      return a ^ b;
    case AluOp::kInvert:
      return ~a;
    // Shifts are logical; a count of the element's width or more leaves nothing.
    case AluOp::kLeftShift:
      return b < 0 || b >= width ? 0
                                 : static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << b);
    case AluOp::kRightShift:
      return b < 0 || b >= width
                 ? 0
                 : static_cast<std::int64_t>((static_cast<std::uint64_t>(a) & mask) >> b);
    case AluOp::kAbs:
      return a < 0 ? -a : a;
    case AluOp::kBypass:
      return a;
    default:
      unsupported("op {} on integers, because it is defined on fp32 only", numerics::name(op));
  }
}

void integer_tiles(CoreState& state, AluOp op, const Tile& dst, const Tile& a, const Tile& b) {
  std::vector<std::int64_t> x = read_integers(state, a);
  const std::vector<std::int64_t> y = read_integers(state, b);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = integer_op(op, x[i], y[i], dst.dtype);
  write_integers(state, dst, x);
}

}  // namespace trnsim::isa
