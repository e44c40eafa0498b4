// How a model is laid over the ranks of a fleet, and what one step of its training is. Ranks are
// numbered tensor-parallel first, then context, data, and pipeline stages outermost, as Megatron
// and neuronx-distributed do; experts are spread over data and context ranks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fleet/model.h"

namespace trnsim::fleet {

enum class Recompute : std::uint8_t { kNone, kSelective, kFull };  // selective: the attention core
enum class Schedule : std::uint8_t { k1f1b, kInterleaved, kGpipe };
// Of matrix products; tensors are bf16, or fp32 with kFp32 and kAutocast (products in bf16).
enum class Precision : std::uint8_t { kBf16, kFp32, kFp8, kAutocast };
inline double tensor_bytes(Precision precision) {
  return precision == Precision::kFp32 || precision == Precision::kAutocast ? 4 : 2;
}
// Flash: scores stay on the chip. Materialised: scores go through memory.
enum class AttentionKernel : std::uint8_t { kFlash, kMaterialised };
enum class OptimizerStates : std::uint8_t { kFp32, kBf16 };

struct Layout {
  std::int64_t tp = 1, pp = 1, dp = 1, cp = 1, ep = 1;
  bool sp = false;  // sequence parallelism: what tensor parallelism replicates is split as well
  int zero = 0;     // 0 to 3
  std::int64_t micro_batch = 1, global_batch = 1, sequence = 2048;
  Recompute recompute = Recompute::kNone;
  Schedule schedule = Schedule::k1f1b;
  std::int64_t chunks = 1;  // of layers on one stage, with the interleaved schedule
  Precision precision = Precision::kBf16;
  AttentionKernel attention = AttentionKernel::kFlash;
  OptimizerStates states = OptimizerStates::kFp32;

  std::int64_t ranks() const { return tp * pp * dp * cp; }
  std::int64_t micro_batches() const { return global_batch / (dp * micro_batch); }
  std::int64_t tokens() const { return micro_batch * sequence / cp; }  // of one rank, at a time
  double tokens_per_step() const {
    return static_cast<double>(global_batch) * static_cast<double>(sequence);
  }
  std::int64_t residual_split() const { return sp ? tp : 1; }
  bool operator==(const Layout&) const = default;
};

// Bytes of one parameter, by what they are for, before ZeRO divides them.
struct ParameterBytes {
  double weights, gradients, states;
};
ParameterBytes parameter_bytes(const Layout& layout);

// Throws ConfigError with the nearest legal choice where the layout does not fit the model: all of
// it, and the part that the number of ranks has no say in.
void check_layout(const Layout& layout, const Model& model);
void check_split(const Layout& layout, const Model& model);

// The layers of each stage differ by one at most; the first stages have one more. With chunks, all
// are equal.
std::int64_t layers_on(const Layout& layout, const Model& model, std::int64_t stage);

std::string_view name(Recompute recompute);
std::string_view name(Schedule schedule);
std::string_view name(Precision precision);
std::string_view name(AttentionKernel kernel);
std::string_view name(OptimizerStates states);

// "tp8 pp4 dp32 sp zero1 micro-batch 1": only what is not the default.
std::string layout_text(const Layout& layout);

}  // namespace trnsim::fleet
