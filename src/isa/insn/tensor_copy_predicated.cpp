// dst = src where the predicate is not zero; elsewhere dst stays. Moves bits, converts nothing.
#include <cstring>

#include "isa/instruction.h"
#include "isa/operators.h"
#include "isa/predicated.h"
#include "memory/stretch.h"
#include "numerics/convert.h"

namespace trnsim::isa {
namespace {

struct TensorCopyPredicated {
  Tile dst;
  ScalarOrTile src;  // a whole tile or a number
  Tile predicate;
  bool reverse_pred = false;

  static constexpr Info kInfo{
      .name = "tensor_copy_predicated",
      .summary = "dst = src where predicate is not 0 (is 0 with reverse_pred), unchanged elsewhere",
      .engines = "Vector",
      .cost =
          "max(MIN_II, N) cycles with one of src and predicate in PSUM or src a number, else "
          "max(MIN_II, 2 N)",
      .source = "NKI documentation 2.26 and 2.32, nki.isa.tensor_copy_predicated"};
  static constexpr std::tuple kFields{
      indirectable(inout("dst", &TensorCopyPredicated::dst)), in("src", &TensorCopyPredicated::src),
      indirectable(in("predicate", &TensorCopyPredicated::predicate)),
      opt("reverse_pred", &TensorCopyPredicated::reverse_pred)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    check_like(rules, "predicate", predicate, "dst", dst);
    const Dtype type = predicate.dtype;
    if (type != Dtype::kUint8 && type != Dtype::kUint16 && type != Dtype::kUint32) {
      rules.fail("predicate_dtype", "predicate is {} but must be uint8, uint16 or uint32",
                 numerics::info(type).name);
    }
    if (!src.is_tile()) return;
    check_like(rules, "src", src.tile, "dst", dst);
    rules.same_dtype("src", src.tile, "dst", dst);
    rules.not_both_psum("src", src.tile, "predicate", predicate);
  }

  void execute(CoreState& state) const {
    std::vector<std::byte> to = bits_of(state, dst);
    const std::vector<std::byte> test = bits_of(state, predicate);
    std::vector<std::byte> from(sizeof(float));
    if (src.is_tile()) {
      from = bits_of(state, src.tile);
    } else {
      const auto number = static_cast<float>(src.scalar);
      numerics::from_float(dst.dtype, &number, from.data(), 0, 1);
    }
    switch (dst.element_bytes()) {
      case 1:
        select<std::uint8_t>(to, from, test);
        break;
      case 2:
        select<std::uint16_t>(to, from, test);
        break;
      default:
        select<std::uint32_t>(to, from, test);
        break;
    }
    memory::scatter(state.memory, dst, to.data());
  }

  static std::vector<std::byte> bits_of(const CoreState& state, const Tile& tile) {
    std::vector<std::byte> bits(static_cast<std::size_t>(tile.bytes()));
    memory::gather(state.memory, tile, bits.data());
    return bits;
  }

  template <class Element>
  void select(std::vector<std::byte>& to, const std::vector<std::byte>& from,
              const std::vector<std::byte>& test) const {
    switch (predicate.element_bytes()) {
      case 1:
        return select_by<Element, std::uint8_t>(to, from, test);
      case 2:
        return select_by<Element, std::uint16_t>(to, from, test);
      default:
        return select_by<Element, std::uint32_t>(to, from, test);
    }
  }

  template <class Element, class Predicate>
  void select_by(std::vector<std::byte>& to, const std::vector<std::byte>& from,
                 const std::vector<std::byte>& test) const {
    auto* y = reinterpret_cast<Element*>(to.data());
    const auto* x = reinterpret_cast<const Element*>(from.data());
    const auto* p = reinterpret_cast<const Predicate*>(test.data());
    const auto n = static_cast<std::size_t>(dst.elements());
    const bool reverse = reverse_pred;
    if (!src.is_tile()) {
      const Element value = x[0];
      for (std::size_t i = 0; i < n; ++i) y[i] = (p[i] != 0) != reverse ? value : y[i];
      return;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const Element value = x[i];
      y[i] = (p[i] != 0) != reverse ? value : y[i];
    }
  }

  Cost cost(const CostModel& model) const {
    return predicated_cost(model, dst, predicate, src.tile);
  }
};

}  // namespace

InstructionType insn_tensor_copy_predicated() { return describe<TensorCopyPredicated>(); }

}  // namespace trnsim::isa
