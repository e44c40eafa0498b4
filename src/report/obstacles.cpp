#include "report/obstacles.h"

#include <algorithm>
#include <array>
#include <limits>

#include "report/rewrites.h"

namespace trnsim::report {
namespace {

using catalog::Number;
using enum Loss;

void set(Number& figure, double value) { figure.value = value; }
void set(std::optional<Number>& figure, double value) {
  if (figure) figure->value = value;
}

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kAny = ~std::uint32_t{0};

template <class... L>
constexpr std::uint32_t bits(L... losses) {
  return ((std::uint32_t{1} << static_cast<unsigned>(losses)) | ...);
}

void no_result_latency(catalog::Core& core) {
  for (Number* figure : {&core.tensor.fill_latency, &core.vector.drain, &core.vector.operand_read,
                         &core.scalar.activation_drain, &core.scalar.copy_drain,
                         &core.scalar.psum_saving, &core.scalar.operand_read})
    set(*figure, 0);
  if (core.gpsimd) set(core.gpsimd->drain, 0);
}

void no_dma_latency(catalog::Dma& dma) {
  for (Number* figure :
       {&dma.trigger_latency, &dma.store_trigger_latency, &dma.spread, &dma.completion_latency})
    set(*figure, 0);
}

void leave_out_evictions(Question& question) {
  question.options.revise = [launch = question.launch()](std::size_t core, std::uint32_t i,
                                                         isa::Cost&) -> timing::Revision {
    const program::Program& program = *launch[core].program;
    return {.left_out = evicts_psum(program.type(program[i]), program.args(program[i]))};
  };
}

bool waits_for_reuse(std::span<const Run> launch) {
  return std::ranges::any_of(launch, [](const Run& run) {
    return std::ranges::any_of(run.timeline->entries, [](const timing::Entry& entry) {
      return entry.wait == timing::Wait::kReuse;
    });
  });
}

constexpr std::array kObstacles{
    Obstacle{"double-buffering",
             "every tile has a buffer of its own, so that loads run ahead of the compute",
             "unbuffered tiles",
             "double-buffer the tiles (or give them more buffers), so that loads run ahead of the "
             "compute",
             kAny, [](Question& question) { question.options.fresh_buffers = true; },
             &waits_for_reuse},
    Obstacle{"larger-dma-transfers",
             "small transfers of one line are gathered until each partition moves 4 KiB",
             "small DMA transfers", "move more per dma_copy: several KiB in each partition",
             bits(kDmaSmall, kDmaIssue, kDmaLatency),
             [](Question& question) { gather_transfers(question); }},
    Obstacle{
        "contiguous-dma",
        "each partition's share of a transfer is one contiguous piece, not transposed",
        "strided or transposed DMA",
        "load contiguous rows and transpose on the Tensor Engine: DMA moves single elements slowly",
        bits(kDmaSmall, kDmaIssue, kDmaBandwidth, kHbmBandwidth),
        [](Question& question) { make_transfers_contiguous(question); }},
    Obstacle{"keep-in-sbuf", "what was loaded once stays in SBUF while there is room",
             "repeated loads", "keep tiles that are loaded again in SBUF",
             bits(kDmaBandwidth, kHbmBandwidth, kDmaSmall, kDmaIssue, kDmaLatency),
             [](Question& question) { keep_loaded_tiles(question); }},
    Obstacle{"evict-on-vector", "tiles are copied out of PSUM on the Vector Engine",
             "PSUM evictions", "evict PSUM on the Vector Engine", bits(kPsumEvictions),
             [](Question& question) { evict_on(question, isa::Engine::kVector); }},
    Obstacle{"evict-on-scalar", "tiles are copied out of PSUM on the Scalar Engine",
             "PSUM evictions", "evict PSUM on the Scalar Engine", bits(kPsumEvictions),
             [](Question& question) { evict_on(question, isa::Engine::kScalar); }},
    Obstacle{"grouped-activations", "each activation table set is loaded once", "table loads",
             "group activations by their table set: each change of set loads tables",
             bits(kTableLoads), [](Question& question) { question.options.tables_stay = true; }},
    Obstacle{"warm-clock", "the Tensor Engine starts at its full rate", "clock ramp",
             "keep the Tensor Engine busy, with dummy matmuls if need be, so that its clock is up "
             "when work comes",
             bits(kClockRamp), [](Question& question) { question.chip.core.tensor.ramp.reset(); }},
    Obstacle{"bf16-matmul", "fp32 matmuls run at the rate of bf16", "fp32 matmuls",
             "use bf16 inputs: fp32 matmuls take several passes", bits(kTensorEngine, kClockRamp),
             [](Question& question) {
               set(question.chip.core.tensor.fp32_slowdown, 1);
               set(question.chip.core.tensor.fp32_passes, 1);
             }},
    Obstacle{"separate-ports", "engines do not exclude each other from SBUF and PSUM",
             "port conflicts",
             "give the work to an engine that does not share the port: here Vector and GpSimd "
             "share SBUF, Vector and Scalar PSUM",
             bits(kPortConflict),
             [](Question& question) {
               question.chip.core.sbuf.vector_gpsimd_exclusive = false;
               question.chip.core.psum.vector_scalar_exclusive = false;
             }},
    Obstacle{"even-cores", "the cores share the work between two barriers evenly",
             "waits at barriers", "share the work between the cores evenly", kAny,
             [](Question& question) { share_work_evenly(question); },
             [](std::span<const Run> launch) { return launch.size() > 1; }},
    Obstacle{"independent-work", "results and semaphores arrive as soon as an engine is done",
             "waits between engines",
             "interleave independent work, so that no engine waits for a result on its way",
             bits(kResultLatency, kSemaphores),
             [](Question& question) {
               no_result_latency(question.chip.core);
               set(question.chip.core.sync.semaphore_latency, 0);
             }},
    Obstacle{"free-semaphores", "engines tell each other in no time", "", "", bits(kSemaphores),
             [](Question& question) { set(question.chip.core.sync.semaphore_latency, 0); }},
    Obstacle{"infinite-dma", "DMA engines and the HBM move any number of bytes at once", "", "",
             bits(kDmaBandwidth, kHbmBandwidth, kDmaSmall),
             [](Question& question) {
               set(question.chip.core.dma.sustained_rate, kInfinite);
               set(question.chip.core.dma.transfer_fixed, 0);
               set(question.chip.core.dma.descriptor_fixed, 0);
               set(question.chip.hbm.bandwidth, kInfinite);
             }},
    Obstacle{"twice-the-hbm", "twice the bandwidth of the HBM", "", "", bits(kHbmBandwidth),
             [](Question& question) {
               set(question.chip.hbm.bandwidth, 2 * question.chip.hbm.bandwidth);
             }},
    Obstacle{"dma-latency", "transfers start and finish at once", "", "", bits(kDmaLatency),
             [](Question& question) { no_dma_latency(question.chip.core.dma); }},
    Obstacle{"dma-issue", "transfers are issued in no time", "", "", bits(kDmaIssue),
             [](Question& question) {
               catalog::Dma& dma = question.chip.core.dma;
               set(dma.issue, 0);
               set(dma.hardware_issue, 0);
               set(dma.software_descriptor, 0);
             }},
    Obstacle{"psum-evictions", "copies out of PSUM take no time", "", "", bits(kPsumEvictions),
             [](Question& question) { leave_out_evictions(question); }},
    Obstacle{"table-loads", "activation tables are loaded in no time", "", "", bits(kTableLoads),
             [](Question& question) { set(question.chip.core.scalar.table_load, 0); }},
    Obstacle{"barriers", "barriers and exchanges cost the wait for the other core alone", "", "",
             bits(kBarrier),
             [](Question& question) {
               set(question.chip.core.sync.core_barrier, 0);
               set(question.chip.core.sync.core_exchange, 0);
             }},
    Obstacle{"twice-the-tensor-engine", "the Tensor Engine runs at twice its clock", "", "",
             bits(kTensorEngine),
             [](Question& question) {
               set(question.chip.core.tensor.clock, 2 * question.chip.core.tensor.clock);
             }},
    Obstacle{"twice-the-vector-engine", "the Vector Engine runs at twice its clock", "", "",
             bits(kVectorEngine),
             [](Question& question) {
               set(question.chip.core.vector.clock, 2 * question.chip.core.vector.clock);
             }},
    Obstacle{"twice-the-scalar-engine", "the Scalar Engine runs at twice its clock", "", "",
             bits(kScalarEngine),
             [](Question& question) {
               set(question.chip.core.scalar.clock, 2 * question.chip.core.scalar.clock);
             }},
    Obstacle{"twice-the-gpsimd-engine", "the GpSimd Engine runs at twice its clock", "", "",
             bits(kGpsimdEngine),
             [](Question& question) {
               if (auto& gpsimd = question.chip.core.gpsimd) set(gpsimd->clock, 2 * gpsimd->clock);
             }},
};

}  // namespace

std::span<const Obstacle> obstacles() { return kObstacles; }

const Obstacle* find_obstacle(std::string_view name) {
  const auto* at = std::ranges::find(kObstacles, name, &Obstacle::name);
  return at == kObstacles.end() ? nullptr : at;
}

}  // namespace trnsim::report
