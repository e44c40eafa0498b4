// Replace each element by zero with a given probability. What is kept is not scaled. Each element
// takes a word of its partition's lane of the Vector Engine's generator, the one that set_rng_seed
// seeds. The bits that the engine compares are not public: here the word's upper 24 as a fraction.
#include "isa/instruction.h"
#include "isa/operators.h"
#include "isa/row_groups.h"
#include "memory/stretch.h"

namespace trnsim::isa {
namespace {

struct Dropout {
  Tile dst, data;
  ScalarOrTile prob;

  static constexpr Info kInfo{.name = "dropout",
                              .summary = "dst = 0 with probability prob, else data",
                              .engines = "Vector",
                              .cost = "max(MIN_II, N) cycles; + drain",
                              .source = "NKI documentation 2.26 and 2.32, nki.isa.dropout"};
  static constexpr std::tuple kFields{out("dst", &Dropout::dst), in("data", &Dropout::data),
                                      in("prob", &Dropout::prob)};

  Engine engine_on(int) const { return Engine::kVector; }

  void check(const Rules& rules) const {
    check_tile(rules, "dst", dst);
    check_like(rules, "data", data, "dst", dst);
    rules.same_dtype("data", data, "dst", dst);
    check_per_partition(rules, "prob", prob, data);
    if (!prob.is_tile()) {
      if (!(prob.scalar >= 0 && prob.scalar <= 1))
        rules.fail("prob", "prob {} is not within 0 and 1", prob.scalar);
      return;
    }
    const bool floats = numerics::info(data.dtype).is_float;
    if (!numerics::info(prob.tile.dtype).is_float ||
        (!floats && prob.tile.dtype != Dtype::kFloat32)) {
      rules.fail("prob_dtype", "prob is {} but must be {} beside {} data",
                 numerics::info(prob.tile.dtype).name, floats ? "a float type" : "float32",
                 numerics::info(data.dtype).name);
    }
  }

  void execute(CoreState& state) const {
    const Column drop(state, prob, data.partitions());
    std::vector<std::byte> bits(static_cast<std::size_t>(data.bytes()));
    memory::gather(state.memory, data, bits.data());
    switch (data.element_bytes()) {
      case 1:
        zero_some<std::uint8_t>(state.vector_random, drop, bits);
        break;
      case 2:
        zero_some<std::uint16_t>(state.vector_random, drop, bits);
        break;
      default:
        zero_some<std::uint32_t>(state.vector_random, drop, bits);
        break;
    }
    memory::scatter(state.memory, dst, bits.data());
  }

  template <class Element>
  void zero_some(RandomLanes& random, const Column& drop, std::vector<std::byte>& bits) const {
    auto* x = reinterpret_cast<Element*>(bits.data());
    std::vector<std::uint32_t> words(static_cast<std::size_t>(data.free_elements()));
    for (int p = 0; p < data.partitions(); ++p) {
      const float probability = *drop.at(p);
      random.draw(dst.start_partition + p, words);
      for (const std::uint32_t word : words) {
        const bool kept = !(numerics::unit_float(word) < probability);
        *x = static_cast<Element>(
            *x & -static_cast<Element>(kept));  // no branch: it would be a coin toss
        ++x;
      }
    }
  }

  Cost cost(const CostModel& model) const {
    const double slow = std::max(model.stride_slowdown(dst), model.stride_slowdown(data));
    return model.vector(static_cast<double>(data.free_elements()) * slow);
  }
};

}  // namespace

InstructionType insn_dropout() { return describe<Dropout>(); }

}  // namespace trnsim::isa
