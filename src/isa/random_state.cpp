#include "isa/random_state.h"

namespace trnsim::isa {

void check_random_state(const Rules& rules, const char* name, const Tile& states, Engine engine,
                        Buffers buffers) {
  if (engine != Engine::kVector && engine != Engine::kGpsimd) {
    rules.fail("engine", "the Vector and GpSimd engines have generators, {} has none",
               engine_name(engine));
  }
  const bool vector = engine == Engine::kVector;
  if (vector) rules.generation_at_least(4, "the state of the Vector Engine's generator");
  rules.operand(name, states, buffers);
  if (states.dtype != Dtype::kUint32) {
    rules.fail("dtype", "{} is {}; it must be uint32", name, numerics::info(states.dtype).name);
  }
  const int words = vector ? RandomLanes::of_vector(rules.generation(), 0).state_words()
                           : RandomLanes::of_gpsimd(0).state_words();
  if (states.dims != 2 || states.free_elements() != words) {
    rules.fail("shape", "{} has {} elements per partition; a lane of {} has {} words of state",
               name, states.free_elements(), engine_name(engine), words);
  }
}

RandomLanes& random_lanes(CoreState& state, Engine engine) {
  return engine == Engine::kVector ? state.vector_random : state.gpsimd_random;
}

Cost random_state_cost(const CostModel& model, const Tile& states, Engine engine) {
  const auto words = static_cast<double>(states.free_elements());
  if (engine == Engine::kVector) return model.vector(words);
  return model.gpsimd(words * model.core().gpsimd->cycles_per_element);
}

}  // namespace trnsim::isa
