#include "isa/tile_copy.h"

#include <algorithm>
#include <cstring>

#include "isa/bits.h"
#include "isa/perf_modes.h"
#include "isa/rows.h"

namespace trnsim::isa {

void check_tile_copy(const Rules& rules, const Tile& dst, const Tile& src, Engine engine) {
  if (engine != Engine::kVector && engine != Engine::kScalar && engine != Engine::kGpsimd) {
    rules.fail("engine", "runs on the Vector, Scalar or GpSimd engine, not on {}",
               engine_name(engine));
  }
  if (engine == Engine::kScalar) rules.generation_at_least(3, "the Scalar engine");
  const Buffers buffers = engine == Engine::kGpsimd ? Buffers::kSbuf : Buffers::kOnChip;
  rules.operand("dst", dst, buffers);
  rules.operand("src", src, buffers);
  rules.same_partitions("dst", dst, "src", src);
  rules.same_free_size("dst", dst, "src", src);
  if (dst.dtype != src.dtype &&
      (numerics::info(dst.dtype).packed > 1 || numerics::info(src.dtype).packed > 1)) {
    rules.fail(
        "packed",
        "cannot convert {} to {}; packed types are copied as they are or made by quantize_mx",
        numerics::info(src.dtype).name, numerics::info(dst.dtype).name);
  }
}

void copy_tile(CoreState& state, const Tile& dst, const Tile& src) {
  if (dst.dtype == src.dtype) return copy_bits(state, dst, src);
  for_each_block(
      state, dst, {&src},
      [](const MutableRows& y, const Rows& x) {
        for (std::size_t r = 0; r < y.count; ++r)
          std::memcpy(y.row(r), x.row(r), y.size * sizeof(float));
      },
      src);
}

Cost tile_copy_cost(const CostModel& model, const Tile& dst, const Tile& src, Engine engine,
                    double cycles_min) {
  const auto n = static_cast<double>(dst.free_elements());
  const double slow = std::max(model.stride_slowdown(dst), model.stride_slowdown(src));
  if (engine == Engine::kScalar) {
    const catalog::ScalarEngine& scalar = model.core().scalar;
    const double cycles = n * slow * scalar.cycles_per_element / scalar_speedup(scalar, dst, src);
    const double saving = src.space == Space::kPsum ? scalar.psum_saving : 0.0;
    return model.scalar(std::max(cycles_min, cycles), scalar.copy_drain - saving);
  }
  if (engine == Engine::kGpsimd) {
    return model.gpsimd(std::max(cycles_min, n * slow * model.core().gpsimd->cycles_per_element));
  }
  const double speedup = vector_speedup(model.core().vector, dst, src);
  return model.vector(std::max(cycles_min, n * slow / speedup));
}

void DynamicCopy::check(const Rules& rules) const {
  check_tile_copy(rules, dst, src, engine_on(rules.generation()));
  if (!offset.present()) return;
  rules.operand("offset", offset, Buffers::kSbuf);
  if (offset.elements() != 1 || !numerics::info(offset.dtype).is_integer) {
    rules.fail("offset", "the offset is {} elements of {}; it must be one integer",
               offset.elements(), numerics::info(offset.dtype).name);
  }
}

// GpSimd has no figure of its own; the Vector Engine's is taken.
Cost DynamicCopy::cost(const CostModel& model) const {
  const Engine runs_on = engine_on(model.core().version());
  const catalog::Core& core = model.core();
  return tile_copy_cost(model, dst, src, runs_on,
                        runs_on == Engine::kScalar ? core.scalar.dynamic_address_cycles.value
                                                   : core.vector.dynamic_address_cycles.value);
}

}  // namespace trnsim::isa
