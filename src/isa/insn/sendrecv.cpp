// Two cores of a logical core exchange tiles from SBUF to SBUF: each sends `src` and receives into
// `dst`. The n-th sendrecv of one core meets the n-th of the other, and both name the same pipe.
// What is sent is read before anything is received, so a tile may be exchanged in place.
#include <algorithm>

#include "isa/instruction.h"
#include "isa/transfer.h"
#include "memory/stretch.h"

namespace trnsim::isa {
namespace {

struct Sendrecv {
  Tile src, dst;
  std::int32_t send_to_rank = 0, recv_from_rank = 0, pipe_id = 0;
  DmaEngine dma_engine = DmaEngine::kDma;
  bool use_gpsimd_dma = false;

  static constexpr Info kInfo{
      .name = "sendrecv",
      .summary = "send src to another core's dst, receive dst from another core's src",
      .engines = "DMA; GpSimd with dma_engine.gpsimd_dma (before release 0.4: use_gpsimd_dma)",
      .cost =
          "both cores ready; then a DMA within SBUF, or on GpSimd start + bytes / "
          "dma_bandwidth_each_way; + sync.core_exchange",
      .source = "NKI documentation, nki.isa.sendrecv",
      .since = 3};
  static constexpr std::tuple kFields{in("src", &Sendrecv::src),
                                      out("dst", &Sendrecv::dst),
                                      arg("send_to_rank", &Sendrecv::send_to_rank),
                                      arg("recv_from_rank", &Sendrecv::recv_from_rank),
                                      arg("pipe_id", &Sendrecv::pipe_id),
                                      opt("dma_engine", &Sendrecv::dma_engine),
                                      opt("use_gpsimd_dma", &Sendrecv::use_gpsimd_dma)};

  bool by_gpsimd() const { return use_gpsimd_dma || dma_engine == DmaEngine::kGpsimd; }
  Engine engine_on(int) const { return by_gpsimd() ? Engine::kGpsimd : Engine::kDma; }
  Meeting meeting() const {
    return {.kind = MeetingKind::kExchange,
            .sent = &src,
            .received = &dst,
            .send_to = send_to_rank,
            .pipe = pipe_id,
            .mover = by_gpsimd() ? DmaEngine::kGpsimd : DmaEngine::kDma};
  }

  void check(const Rules& rules) const {
    const auto [rank, cores] = rules.place();
    if (cores == 1)
      rules.fail("cores", "needs two cores of one logical core; launch the kernel as kernel[2]");
    for (const auto& [name, peer] :
         {std::pair{"send_to_rank", send_to_rank}, {"recv_from_rank", recv_from_rank}}) {
      if (peer < 0 || peer >= cores)
        rules.fail("rank", "{} is {}; the ranks are 0 to {}", name, peer, cores - 1);
      if (peer == rank) rules.fail("self", "{} is this core itself, {}", name, peer);
    }
    if (pipe_id < 0) rules.fail("pipe_id", "pipe_id is {}; it must not be negative", pipe_id);
    for (const auto& [name, tile] : {std::pair{"src", &src}, {"dst", &dst}}) {
      if (tile->space != Space::kSbuf) {
        rules.fail("buffer", "{} is in {} but must be in SBUF", name,
                   memory::space_name(tile->space));
      }
      check_dma_operand(rules, name, *tile);
    }
    rules.same_dtype("src", src, "dst", dst);
    rules.same_partitions("src", src, "dst", dst);
    rules.same_free_size("src", src, "dst", dst);
    if (by_gpsimd()) check_gpsimd(rules);
  }

  // The limit is published for 32-bit types, and half and a quarter of it for narrower ones.
  void check_gpsimd(const Rules& rules) const {
    const auto& most = rules.core().gpsimd->send_bytes_max;
    if (!most)
      unsupported("sendrecv on {}, because its file gives no gpsimd.send_bytes_max",
                  rules.core().name);
    const auto limit = static_cast<std::int64_t>(*most * std::min(4, dst.element_bytes()) / 4);
    const std::int64_t bytes = src.free_elements() * src.element_bytes();
    if (bytes > limit) {
      rules.fail("gpsimd_bytes",
                 "{} bytes of {} in each partition; GpSimd's own DMA sends at most {}", bytes,
                 numerics::info(src.dtype).name, limit);
    }
  }

  void execute(CoreState& state) const {
    memory::scatter(state.memory, dst, state.received.data());
  }

  Cost cost(const CostModel& model) const {
    const auto& exchange = model.core().sync.core_exchange;
    if (!exchange)
      unsupported("sendrecv on {}, because its file gives no sync.core_exchange",
                  model.core().name);
    if (!by_gpsimd()) {
      Cost cost{.occupancy = {}, .latency = from_ns(*exchange)};
      cost.dma = dma_work(dst, src);
      return cost;
    }
    const catalog::GpsimdEngine& engine = *model.core().gpsimd;
    const double moving = static_cast<double>(src.bytes()) / *engine.dma_bandwidth_each_way;
    const Picoseconds busy =
        from_cycles(engine.start_cycles, engine.clock) + from_ns(*exchange + moving);
    return {.occupancy = busy, .latency = busy + from_ns(engine.drain)};
  }
};

}  // namespace

InstructionType insn_sendrecv() { return describe<Sendrecv>(); }

}  // namespace trnsim::isa
