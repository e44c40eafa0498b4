// The kinds of argument that an instruction takes. All plain data: an instruction's arguments are a
// struct of these and can be copied, hashed and stored byte for byte.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "memory/access_pattern.h"
#include "numerics/dtype.h"
#include "numerics/elementwise.h"

namespace trnsim::isa {

using memory::Space;
using numerics::AluOp;
using numerics::Dtype;
using Tile = memory::AccessPattern;

enum class Engine : std::uint8_t { kUnknown, kTensor, kVector, kScalar, kGpsimd, kSync, kDma };
inline constexpr int kEngineCount = 7;
std::string_view engine_name(Engine engine);

// A [P, 1] tile or one immediate for all partitions: fp32 for arithmetic, an integer (which double
// keeps) for bits.
struct ScalarOrTile {
  enum class Kind : std::uint8_t { kAbsent, kScalar, kTile };
  Tile tile;
  double scalar = 0;
  Kind kind = Kind::kAbsent;

  bool is_tile() const { return kind == Kind::kTile; }
  bool present() const { return kind != Kind::kAbsent; }
};

// [step, count] pairs of iota and affine_select, outermost first.
struct AffinePattern {
  std::array<std::int32_t, 4> steps{};
  std::array<std::int32_t, 4> counts{};
  std::int32_t dims = 0;

  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int i = 0; i < dims; ++i) n *= counts[i];
    return n;
  }
};

// A short list of integers: reduction axes, shuffle masks.
struct IntList {
  std::array<std::int32_t, 32> values{};
  std::int32_t size = 0;
};

// Operands of one argument that are alike, in order.
struct TileList {
  static constexpr std::int32_t kMax = 16;  // sources of a dma_compute
  std::array<Tile, kMax> tiles{};
  std::int32_t size = 0;
};

struct NumberList {
  std::array<double, TileList::kMax> values{};
  std::int32_t size = 0;
};

struct OptionalInt {
  std::int64_t value = 0;
  bool present = false;
};

// nki.isa.reduce_cmd, with the vendor's codes.
enum class ReduceCommand : std::uint8_t {
  kIdle = 0,
  kReset = 1,
  kReduce = 2,
  kResetReduce = 3,
  kLoadReduce = 4
};
enum class PerfMode : std::uint8_t {
  kNone,
  kDoubleRow,
  kDoubleColumn,
  kDoublePixel,
  kDoubleRowSwInterleave
};
enum class DgeMode : std::uint8_t { kUnknown, kNone, kSoftware, kHardware };
enum class OobMode : std::uint8_t { kError, kSkip };
// Who moves the data of sendrecv.
enum class DmaEngine : std::uint8_t { kDma, kGpsimd };

}  // namespace trnsim::isa
