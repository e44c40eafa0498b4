#include "core/logical_core.h"

#include <algorithm>

#include "base/error.h"
#include "memory/stretch.h"

namespace trnsim::core {

LogicalCore::LogicalCore(const catalog::Core& spec, const Options& options, int cores)
    : waiting_(cores), ended_(cores, false), watched_(cores, true), races_(cores_) {
  const auto space = std::make_shared<memory::AddressSpace>();
  for (int rank = 0; rank < cores; ++rank) {
    Options own = options;
    own.seed += static_cast<std::uint64_t>(rank);
    cores_.push_back(std::make_unique<NeuronCore>(spec, own, isa::Place{rank, cores}, space));
    if (cores > 1) cores_.back()->logical_ = this;
  }
}

LogicalCore::~LogicalCore() = default;

void LogicalCore::before(int rank, const isa::InstructionType& type, const void* args,
                         std::uint32_t site) {
  const memory::Memory& memory = cores_[rank]->memory();
  isa::for_each_tile(type, args, [&](const isa::FieldInfo& field, const isa::Tile& tile) {
    if (memory.reaches(tile.tensor)) return;
    const memory::Allocation& tensor = memory.allocation(tile.tensor);
    program_error("memory.other_core",
                  "{}: {} is '{}' in the {} of another core. A core reaches its own SBUF, PSUM and "
                  "private HBM, and shared HBM (nl.shared_hbm); sendrecv exchanges tiles",
                  type.info.name, field.name, tensor.name, memory::space_name(tensor.space));
  });
  if (watched_[rank]) races_.check(rank, type, args, site);
  if (type.meeting) meet(rank, type, type.meeting(args), site);
}

void LogicalCore::meet(int rank, const isa::InstructionType& type, const isa::Meeting& meeting,
                       std::uint32_t site) {
  waiting_[rank] = Arrival{type.info.name, meeting, site};
  if (std::find(ended_.begin(), ended_.end(), true) != ended_.end()) deadlock();
  for (int other = 0; other < size(); ++other) {
    if (other != rank && waiting_[other]) require_match(rank, other);
  }
  const std::int64_t before = meetings_;
  const bool all = std::all_of(waiting_.begin(), waiting_.end(),
                               [](const auto& arrival) { return arrival.has_value(); });
  if (all) complete();
  if (wait) wait(rank, all);
  if (meetings_ == before) deadlock();
}

void LogicalCore::complete() {
  races_.synchronise();
  if (cores_[0]->options().values && waiting_[0]->meeting.kind == isa::MeetingKind::kExchange) {
    for (int rank = 0; rank < size(); ++rank) {
      const isa::Meeting& meeting = waiting_[rank]->meeting;
      std::vector<std::byte>& bytes = cores_[meeting.send_to]->state_.received;
      bytes.resize(static_cast<std::size_t>(meeting.sent->bytes()));
      memory::gather(cores_[rank]->memory(), *meeting.sent, bytes.data());
    }
  }
  std::fill(waiting_.begin(), waiting_.end(), std::nullopt);
  ++meetings_;
}

void LogicalCore::require_match(int rank, int other) const {
  const Arrival& a = *waiting_[std::min(rank, other)];
  const Arrival& b = *waiting_[std::max(rank, other)];
  const int first = std::min(rank, other), second = std::max(rank, other);
  const std::string where = fmt::format("{}; {}", place_of(first), place_of(second));
  const isa::Meeting &x = a.meeting, &y = b.meeting;
  if (x.kind != y.kind) deadlock();
  if (x.kind == isa::MeetingKind::kBarrier) {
    if (x.data->on_chip() && y.data->on_chip()) return;  // a tile of each core's own
    if (x.data->tensor == y.data->tensor) return;
    const memory::Memory& memory = cores_[first]->memory();
    program_error(
        "core_barrier.match",
        "core_barrier: the cores come to barriers of different tensors, '{}' and '{}'. {}",
        memory.allocation(x.data->tensor).name, memory.allocation(y.data->tensor).name, where);
  }
  if (x.pipe != y.pipe) {
    program_error("sendrecv.match_pipe", "sendrecv: the cores name different pipes, {} and {}. {}",
                  x.pipe, y.pipe, where);
  }
  if (x.mover != y.mover) {
    program_error("sendrecv.match_engine",
                  "sendrecv: one core sends by DMA and the other by GpSimd's own DMA. {}", where);
  }
  for (const auto& [from, to] : {std::pair{x.sent, y.received}, {y.sent, x.received}}) {
    if (from->dtype == to->dtype && from->partitions() == to->partitions() &&
        from->free_elements() == to->free_elements())
      continue;
    program_error("sendrecv.match_shape",
                  "sendrecv: one core sends {} {} x {} where the other receives {} {} x {}. {}",
                  numerics::info(from->dtype).name, from->partitions(), from->free_elements(),
                  numerics::info(to->dtype).name, to->partitions(), to->free_elements(), where);
  }
}

std::string LogicalCore::place_of(int rank) const {
  const auto& arrival = waiting_[rank];
  if (!arrival) return fmt::format("core {} has ended", rank);
  return fmt::format("core {} waits in {} at {}", rank, arrival->instruction,
                     cores_[rank]->program().place(arrival->site));
}

void LogicalCore::deadlock() const {
  std::string text;
  for (int rank = 0; rank < size(); ++rank) text += (rank ? "; " : "") + place_of(rank);
  program_error(
      "launch.deadlock",
      "{}, after {} meeting{}. No core can go on: every core of a launch must come to the "
      "same barriers and exchanges in the same order",
      text, meetings_, meetings_ == 1 ? "" : "s");
}

void LogicalCore::end(int rank) {
  ended_[rank] = true;
  cores_[rank]->fit_into_memory();
  if (std::find(ended_.begin(), ended_.end(), false) == ended_.end()) races_.synchronise();
}

}  // namespace trnsim::core
