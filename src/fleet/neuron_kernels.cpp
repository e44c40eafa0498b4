#include "fleet/neuron_kernels.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/call.h"
#include "timing/clock.h"

namespace trnsim::fleet {
namespace {

using core::Call;
using core::NeuronCore;
using core::Tensors;
using isa::Space;
using isa::Tile;
using numerics::Dtype;

constexpr int kRows = 128, kMoving = 512;
constexpr int kInTurn = 2;  // buffers, so that loads run ahead

Dtype operand_dtype(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
      return Dtype::kFloat32;
    case Precision::kFp8:
      return Dtype::kFloat8E5M2;
    case Precision::kBf16:
    case Precision::kAutocast:
      break;
  }
  return Dtype::kBfloat16;
}
Dtype stored_dtype(Precision precision) {
  return tensor_bytes(precision) == 4 ? Dtype::kFloat32 : Dtype::kBfloat16;
}

// Clocks `few` and twice as many blocks: their difference is the steady state.
template <class Record>
Steady clock_blocks(const catalog::Chip& chip, int few, Record record) {
  std::array<double, 2> seconds{};
  for (int i = 0; i < 2; ++i) {
    NeuronCore core(chip.core, {.values = false});
    Tensors tensors(core);
    record(core, tensors, few << i);
    seconds[static_cast<std::size_t>(i)] =
        static_cast<double>(timing::clock(core.program(), chip).total.count) * 1e-12;
  }
  const double block = (seconds[1] - seconds[0]) / few;
  return {std::max(0.0, seconds[0] - few * block), block};
}

std::vector<Tile> in_turn(Tensors& tensors, Space space, Dtype dtype, int columns, int count) {
  std::vector<Tile> tiles;
  for (int i = 0; i < count; ++i) tiles.push_back(tensors.on_chip(space, dtype, kRows, columns));
  return tiles;
}

const Tile& turn(const std::vector<Tile>& tiles, std::int64_t i) {
  return tiles[static_cast<std::size_t>(i) % tiles.size()];
}

void load(NeuronCore& core, const Tile& to, const Tile& from) {
  Call("dma_copy").set("dst", to).set("src", from).issue(core);
}

int pieces(std::int64_t whole, std::int64_t piece) {
  return static_cast<int>((whole + piece - 1) / piece);
}

void add(NeuronCore& core, const Tile& to, const Tile& a, const Tile& b) {
  Call("tensor_tensor").set("dst", to).set("data1", a).set("data2", b).issue(core);
}

void apply(NeuronCore& core, const Tile& to, const Tile& from) {
  Call("activation")
      .set("dst", to)
      .set("data", from)
      .set("op", numerics::ActivationFunction::kExp)
      .issue(core);
}

// Copies by the Scalar Engine, every second one by the Vector Engine.
void narrow_to(NeuronCore& core, const Tile& to, const Tile& from, std::int64_t number) {
  if (number % 2 == 0)
    Call("activation").set("dst", to).set("data", from).issue(core);
  else
    Call("tensor_copy").set("dst", to).set("src", from).issue(core);
}

Tile columns_of(Tile tile, int partitions, int columns) {
  tile.sizes[0] = partitions;
  tile.sizes[1] = columns;
  return tile;
}

void multiply(NeuronCore& core, const Tile& to, const Tile& stationary, const Tile& moving) {
  Call("nc_matmul").set("dst", to).set("stationary", stationary).set("moving", moving).issue(core);
}

// The first columns of an operand; with two rows of k to a partition, [P, 2, columns].
Tile part(Tile tile, int columns, int rows) {
  if (rows == 2) {
    tile.dims = 3;
    tile.sizes[2] = columns;
    tile.strides[2] = tile.strides[1];
    tile.strides[1] = tile.sizes[1] / 2 * tile.strides[2];
    tile.sizes[1] = 2;
  } else {
    tile.sizes[1] = columns;
  }
  return tile;
}

void multiply_part(NeuronCore& core, const Tile& to, const Tile& stationary, const Tile& moving) {
  Call call("nc_matmul");
  call.set("dst", to).set("stationary", stationary).set("moving", moving);
  if (moving.dims == 3) call.set("perf_mode", isa::PerfMode::kDoubleRow);
  call.issue(core);
}

}  // namespace

Steady clock_matmul(const catalog::Chip& chip, const MatmulBlock& block, Precision precision) {
  const bool double_row =
      precision == Precision::kFp8 && chip.core.version() >= 3 && pieces(block.k, kRows) % 2 == 0;
  const int rows = double_row ? 2 : 1;  // of k in one partition
  const int kt = pieces(block.k, kRows) / rows;
  const int mt = pieces(block.m, kRows), nt = pieces(block.n, kMoving);
  const auto k = static_cast<int>(std::min<std::int64_t>(block.k, kRows));
  const auto m = static_cast<int>(std::min<std::int64_t>(block.m, kRows));
  const auto n = static_cast<int>((block.n + nt - 1) / nt);
  const auto pack = static_cast<int>(block.pack), sums = static_cast<int>(block.sums);
  const Dtype dtype = operand_dtype(precision), stored = stored_dtype(precision);
  const auto record = [&](NeuronCore& core, Tensors& tensors, int blocks) {
    std::vector<Tile> a, b;
    for (int i = 0; i < kInTurn * kt; ++i) {
      a.push_back(tensors.on_chip(Space::kSbuf, dtype, k, rows * pack * m * mt));
      b.push_back(tensors.on_chip(Space::kSbuf, dtype, k, rows * pack * n * nt));
    }
    const std::vector<Tile> psum = in_turn(tensors, Space::kPsum, Dtype::kFloat32, n, 4);
    std::vector<Tile> sum;
    if (sums > 1) sum = in_turn(tensors, Space::kSbuf, Dtype::kFloat32, n, mt * nt);
    const std::vector<Tile> out = in_turn(tensors, Space::kSbuf, stored, pack * n * nt, kInTurn);
    const Tile a_from = tensors.hbm(dtype, k, rows * pack * m * mt);
    const Tile b_from = tensors.hbm(dtype, k, rows * pack * n * nt);
    const Tile to = tensors.hbm(stored, m, pack * n * nt);
    std::int64_t products = 0, stores = 0;
    for (int number = 0; number < blocks; ++number) {
      const int first = number % kInTurn * kt;
      const bool last = (number + 1) % sums == 0;
      for (int i = 0; i < kt; ++i) {
        load(core, a[static_cast<std::size_t>(first + i)], a_from);
        load(core, b[static_cast<std::size_t>(first + i)], b_from);
      }
      for (int i = 0; i < mt; ++i) {
        const Tile& row = turn(out, stores);
        for (int j = 0; j < nt * pack; ++j) {
          const Tile product = columns_of(turn(psum, products++), m, n);
          for (int l = 0; l < kt; ++l) {
            const auto at = static_cast<std::size_t>(first + l);
            multiply_part(core, product, part(a[at], m, rows), part(b[at], n, rows));
          }
          const Tile target = columns_of(row, m, n);
          if (sums == 1) {
            narrow_to(core, target, product, products);
            continue;
          }
          const Tile held = columns_of(turn(sum, i * nt + j), m, n);
          add(core, held, product, held);
          if (last) narrow_to(core, target, held, 0);
        }
        if (last) load(core, to, columns_of(turn(out, stores++), m, pack * n * nt));
      }
    }
  };
  return clock_blocks(chip, std::max(2, sums), record);
}

Steady clock_pass(const catalog::Chip& chip, const PassBlock& block, Precision precision) {
  const Dtype dtype = stored_dtype(precision);
  const auto record = [&](NeuronCore& core, Tensors& tensors, int blocks) {
    const auto bytes = [](std::int64_t n) {
      return static_cast<int>(std::max<std::int64_t>(n, 2) / 2);
    };
    const std::vector<Tile> in =
        in_turn(tensors, Space::kSbuf, Dtype::kBfloat16, bytes(block.columns_in), kInTurn);
    const std::vector<Tile> out =
        in_turn(tensors, Space::kSbuf, Dtype::kBfloat16, bytes(block.columns_out), kInTurn);
    const std::vector<Tile> work = in_turn(tensors, Space::kSbuf, dtype, kPassColumns, 2 * kInTurn);
    const Tile from = tensors.hbm(Dtype::kBfloat16, kRows, bytes(block.columns_in));
    const Tile to = tensors.hbm(Dtype::kBfloat16, kRows, bytes(block.columns_out));
    for (int i = 0; i < blocks; ++i) {
      // What is loaded is what the first pass reads, what is stored what the last one wrote.
      Tile first = turn(in, i), last = turn(out, i);
      const Tile &a = turn(work, 2 * i), &b = turn(work, 2 * i + 1);
      const auto width = static_cast<std::int32_t>(kPassColumns);
      load(core, first, from);
      first.sizes[1] = std::min<std::int64_t>(first.sizes[1], width);
      Tile into = a;
      into.sizes[1] = first.sizes[1];
      add(core, into, first, into);
      for (int j = 1; j < block.arithmetic; ++j) add(core, a, a, b);
      for (int j = 0; j < block.functions; ++j) apply(core, a, a);
      last.sizes[1] = std::min<std::int64_t>(last.sizes[1], width);
      Tile result = a;
      result.sizes[1] = last.sizes[1];
      narrow_to(core, last, result, i);
      load(core, to, turn(out, i));
    }
  };
  return clock_blocks(chip, 4, record);
}

Steady clock_flash(const catalog::Chip& chip, const FlashBlock& block, Precision precision) {
  const Dtype dtype = stored_dtype(precision);
  const auto record = [&](NeuronCore& core, Tensors& tensors, int blocks) {
    const auto head = static_cast<int>(std::min<std::int64_t>(block.head_dim, kRows));
    const auto value = static_cast<int>(std::min<std::int64_t>(block.value_dim, kMoving));
    const int head_tiles = pieces(block.head_dim, kRows),
              value_tiles = pieces(block.value_dim, kRows);
    const auto value_rows = static_cast<int>(std::min<std::int64_t>(block.value_dim, kRows));
    const Tile q = tensors.on_chip(Space::kSbuf, dtype, head, kRows);
    const Tile grad = tensors.on_chip(Space::kSbuf, dtype, value_rows, kRows);
    const Tile rows = tensors.on_chip(Space::kSbuf, dtype, kRows, std::max(head, value));
    const std::vector<Tile> keys = in_turn(tensors, Space::kSbuf, dtype, kMoving, kInTurn);
    const std::vector<Tile> values = in_turn(tensors, Space::kSbuf, dtype, 4 * value, kInTurn);
    const std::vector<Tile> scores = in_turn(tensors, Space::kPsum, Dtype::kFloat32, kMoving, 2);
    const std::vector<Tile> gradients = in_turn(tensors, Space::kPsum, Dtype::kFloat32, kMoving, 2);
    const std::vector<Tile> turned = in_turn(tensors, Space::kPsum, dtype, kMoving, 1);
    const std::vector<Tile> results = in_turn(tensors, Space::kPsum, Dtype::kFloat32, kMoving, 2);
    const std::vector<Tile> p = in_turn(tensors, Space::kSbuf, dtype, kMoving, kInTurn);
    const std::vector<Tile> pt = in_turn(tensors, Space::kSbuf, dtype, kMoving, kInTurn);
    const Tile sum = tensors.on_chip(Space::kSbuf, Dtype::kFloat32, kRows, std::max(head, value));
    const Tile most = tensors.on_chip(Space::kSbuf, Dtype::kFloat32, kRows, 1);
    const Tile keys_from = tensors.hbm(dtype, kRows, kMoving);
    const Tile values_from = tensors.hbm(dtype, kRows, 4 * value);
    isa::IntList free_axis;
    free_axis.size = 1;
    free_axis.values[0] = 1;
    const auto transpose = [&](int i) {  // four tiles of 128 x 128, and back from PSUM
      for (int j = 0; j < 4; ++j)
        Call("nc_transpose")
            .set("dst", columns_of(turn(turned, 0), kRows, kRows))
            .set("data", columns_of(turn(p, i), kRows, kRows))
            .set("engine", isa::Engine::kTensor)
            .issue(core);
      Call("tensor_copy")
          .set("dst", turn(pt, i))
          .set("src", turn(turned, 0))
          .set("engine", isa::Engine::kVector)
          .issue(core);
    };
    const auto four = [&](const std::vector<Tile>& left, int i, int width) {
      for (int j = 0; j < 4; ++j)
        multiply(core, columns_of(turn(results, i), kRows, width),
                 columns_of(turn(left, i), kRows, kRows), columns_of(rows, kRows, width));
    };
    for (int i = 0; i < blocks; ++i) {
      load(core, turn(keys, i), keys_from);
      load(core, turn(values, i), values_from);
      for (int j = 0; j < head_tiles; ++j)
        multiply(core, turn(scores, i), q, columns_of(turn(keys, i), head, kMoving));
      if (!block.backward) {
        Call("tensor_reduce")
            .set("dst", most)
            .set("data", turn(scores, i))
            .set("axis", free_axis)
            .set("op", numerics::AluOp::kMaximum)
            .issue(core);
      }
      apply(core, turn(p, i), turn(scores, i));
      if (block.backward) {
        for (int j = 0; j < value_tiles; ++j)
          multiply(core, turn(gradients, i), grad, columns_of(turn(keys, i), value_rows, kMoving));
        four(p, i, value);  // values
        add(core, turn(p, i), turn(gradients, i), turn(p, i));
        add(core, turn(p, i), turn(p, i), turn(pt, i));
        four(p, i, head);  // keys
      }
      transpose(i);
      four(pt, i, block.backward ? head : value);
      add(core, columns_of(sum, kRows, value), columns_of(turn(results, i), kRows, value),
          columns_of(sum, kRows, value));
    }
  };
  return clock_blocks(chip, 4, record);
}

}  // namespace trnsim::fleet
