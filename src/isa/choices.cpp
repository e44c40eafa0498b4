#include "isa/choices.h"

#include <array>

#include "isa/operand.h"
#include "numerics/elementwise.h"
#include "numerics/functions.h"

namespace trnsim::isa {
namespace {

template <class Code>
constexpr Choice choice(FieldKind kind, std::string_view group, std::string_view name, Code code) {
  static_assert(sizeof(Code) == 1);
  return {kind, group, name, static_cast<std::uint8_t>(code)};
}

constexpr Choice engine(std::string_view name, Engine code) {
  return choice(FieldKind::kEngine, "engine", name, code);
}
constexpr Choice command(std::string_view name, ReduceCommand code) {
  return choice(FieldKind::kReduceCommand, "reduce_cmd", name, code);
}
constexpr Choice perf_mode(std::string_view name, PerfMode code) {
  return choice(FieldKind::kPerfMode, "matmul_perf_mode", name, code);
}
constexpr Choice dge_mode(std::string_view name, DgeMode code) {
  return choice(FieldKind::kDgeMode, "dge_mode", name, code);
}
constexpr Choice oob_mode(std::string_view name, OobMode code) {
  return choice(FieldKind::kOobMode, "oob_mode", name, code);
}
constexpr Choice dma_engine(std::string_view name, DmaEngine code) {
  return choice(FieldKind::kDmaEngine, "dma_engine", name, code);
}

constexpr std::array kChoices{
    engine("unknown", Engine::kUnknown),
    engine("tensor", Engine::kTensor),
    engine("vector", Engine::kVector),
    engine("scalar", Engine::kScalar),
    engine("gpsimd", Engine::kGpsimd),
    engine("dma", Engine::kDma),
    engine("sync", Engine::kSync),
    command("idle", ReduceCommand::kIdle),
    command("reset", ReduceCommand::kReset),
    command("reduce", ReduceCommand::kReduce),
    command("reset_reduce", ReduceCommand::kResetReduce),
    command("load_reduce", ReduceCommand::kLoadReduce),
    perf_mode("none", PerfMode::kNone),
    perf_mode("double_row", PerfMode::kDoubleRow),
    perf_mode("double_column", PerfMode::kDoubleColumn),
    perf_mode("double_pixel", PerfMode::kDoublePixel),
    perf_mode("double_row_sw_interleave", PerfMode::kDoubleRowSwInterleave),
    dge_mode("unknown", DgeMode::kUnknown),
    dge_mode("none", DgeMode::kNone),
    dge_mode("swdge", DgeMode::kSoftware),
    dge_mode("hwdge", DgeMode::kHardware),
    oob_mode("error", OobMode::kError),
    oob_mode("skip", OobMode::kSkip),
    dma_engine("dma", DmaEngine::kDma),
    dma_engine("gpsimd_dma", DmaEngine::kGpsimd),
};

template <class Enum>
std::optional<std::uint8_t> code_of(std::optional<Enum> value) {
  if (!value) return std::nullopt;
  return static_cast<std::uint8_t>(*value);
}

}  // namespace

std::string_view kind_name(FieldKind kind) {
  switch (kind) {
    case FieldKind::kTile:
      return "tile";
    case FieldKind::kScalarOrTile:
      return "fp32 value or [P, 1] tile";
    case FieldKind::kAluOp:
      return "ALU operation";
    case FieldKind::kActivation:
      return "activation function";
    case FieldKind::kEngine:
      return "engine";
    case FieldKind::kReduceCommand:
      return "reduce command";
    case FieldKind::kPerfMode:
      return "performance mode";
    case FieldKind::kDgeMode:
      return "descriptor generation";
    case FieldKind::kOobMode:
      return "out-of-bounds mode";
    case FieldKind::kDmaEngine:
      return "DMA engine";
    case FieldKind::kAffinePattern:
      return "[step, count] pairs";
    case FieldKind::kIntList:
      return "integers";
    case FieldKind::kOptionalInt:
      return "integer or None";
    case FieldKind::kInt:
      return "integer";
    case FieldKind::kFloat:
      return "float";
    case FieldKind::kNumber:
      return "number";
    case FieldKind::kBool:
      return "True or False";
    case FieldKind::kTileList:
      return "tiles";
    case FieldKind::kNumberList:
      return "numbers";
  }
  return {};
}

std::span<const Choice> choices() { return kChoices; }

bool is_enumerated(FieldKind kind) {
  if (kind == FieldKind::kAluOp || kind == FieldKind::kActivation) return true;
  for (const Choice& each : kChoices) {
    if (each.kind == kind) return true;
  }
  return false;
}

std::string_view choice_name(FieldKind kind, std::uint8_t code) {
  if (kind == FieldKind::kAluOp) return numerics::name(static_cast<AluOp>(code));
  if (kind == FieldKind::kActivation)
    return numerics::name(static_cast<numerics::ActivationFunction>(code));
  for (const Choice& each : kChoices) {
    if (each.kind == kind && each.code == code) return each.name;
  }
  return {};
}

std::optional<std::uint8_t> choice_code(FieldKind kind, std::string_view name) {
  if (kind == FieldKind::kAluOp) return code_of(numerics::alu_op_from_name(name));
  if (kind == FieldKind::kActivation) return code_of(numerics::activation_function_from_name(name));
  for (const Choice& each : kChoices) {
    if (each.kind == kind && each.name == name) return each.code;
  }
  return std::nullopt;
}

}  // namespace trnsim::isa
