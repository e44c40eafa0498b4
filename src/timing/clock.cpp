#include "timing/clock.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "base/error.h"
#include "isa/cost.h"
#include "timing/dma_engines.h"
#include "timing/hazards.h"
#include "timing/liberties.h"
#include "timing/tensor_array.h"
#include "timing/tensor_ramp.h"

namespace trnsim::timing {

std::string_view wait_name(Wait wait) {
  constexpr std::array<std::string_view, kWaitCount> kNames{"nothing",      "engine", "data",
                                                            "buffer reuse", "port",   "barrier"};
  return kNames[static_cast<std::size_t>(wait)];
}

namespace {

struct Ready {
  Picoseconds at;
  Wait wait = Wait::kNothing;
  std::uint8_t core = 0;  // of `for_whom`
  std::uint32_t for_whom = kNobody;

  void not_before(Picoseconds when, Wait reason, std::uint32_t whom, std::uint8_t whose) {
    if (when <= at) return;
    *this = {when, reason, whose, whom};
  }
};

// What the clocks of the cores of a launch share.
struct Chip {
  struct Arrival {
    Ready ready;
    std::uint32_t instruction;
    std::uint8_t core;
  };

  const catalog::Chip& spec;
  const Options& options;
  int cores;
  Hbm hbm;
  std::vector<std::uint32_t> first;  // of each core: its first instruction, counted over all cores
  std::vector<std::vector<Arrival>> meetings;  // by number: the cores that are ready for it
  std::size_t complete = 0;  // meetings that every core has recorded: a run may end in between
  bool met = false;          // a meeting has become complete

  // The core and the instruction behind a number counted over all cores.
  std::pair<std::uint8_t, std::uint32_t> located(std::uint32_t number) const {
    const auto next = std::upper_bound(first.begin(), first.end(), number);
    const auto core = static_cast<std::size_t>(next - first.begin()) - 1;
    return {static_cast<std::uint8_t>(core), number - first[core]};
  }
};

// One core's clock.
class Clock {
 public:
  Clock(const program::Program& program, Chip& chip, int core_index, Scheduling scheduling)
      : program_(program),
        chip_(chip),
        core_(chip.spec.core),
        me_(static_cast<std::uint8_t>(core_index)),
        to_place_(program.size()),
        model_(core_),
        dependencies_(
            program, scheduling == Scheduling::kList ? &kept_ : nullptr,
            takes_liberties(scheduling) ? shared_out(program, core_) : std::vector<Queue>{}),
        ramp_(core_.tensor),
        dma_(core_.dma, chip.hbm),
        semaphore_(from_ns(core_.sync.semaphore_latency)) {
    timeline_.entries.resize(program_.size());
    scheduled_.assign(program_.size(), false);
    timeline_.scheduling = scheduling;
    if (takes_liberties(scheduling)) {
      stand_ins_ = stand_ins(program, dependencies_, core_);
      dependencies_.leave_out(stand_ins_);
    }
    to_place_ -= static_cast<std::size_t>(std::count_if(
        stand_ins_.begin(), stand_ins_.end(), [](std::uint32_t i) { return i != kKept; }));
    if (scheduling == Scheduling::kList) {
      for (const std::uint32_t i : list_order(program, dependencies_, kept_, stand_ins_, chip.spec))
        streams_[index(dependencies_.queue(i))].push_back(i);
      kept_ = {};
    }
    for (std::size_t i = 0; i < program_.size(); ++i) {
      const auto number = static_cast<std::uint32_t>(i);
      if (scheduling == Scheduling::kProgram)
        streams_[index(dependencies_.queue(i))].push_back(number);
      if (chip.cores > 1 && program_.type(program_[i]).meeting) meetings_.push_back(number);
    }
  }

  bool done() const { return placed_ == to_place_; }
  std::size_t to_place() const { return to_place_; }
  std::size_t meetings() const { return meetings_.size(); }

  // Finds the queue head that can start first; false when none can yet.
  bool find_first() {
    best_ = -1;
    for (int q = 0; q < kQueueCount; ++q) {
      if (!refresh(q)) continue;
      if (best_ < 0 || heads_[q].at < heads_[best_].at) best_ = q;
    }
    return best_ >= 0;
  }
  Picoseconds first_start() const { return heads_[best_].at; }

  // Starts what find_first() found.
  void place_first() {
    const std::uint32_t i = streams_[best_][next_[best_]];
    place(static_cast<Queue>(best_), i, heads_[best_]);
    scheduled_[i] = true;
    ++next_[best_];
    known_[best_] = false;
    ++placed_;
  }

  Timeline take() {
    timeline_.dma_busy = dma_.busy();
    timeline_.launch = from_ns(core_.launch.neff);
    for (std::uint32_t i = 0; i < stand_ins_.size(); ++i) {
      if (stand_ins_[i] != kKept) leave_out(i, stand_ins_[i]);
    }
    return std::move(timeline_);
  }

 private:
  bool takes_liberties(Scheduling scheduling) const {
    return scheduling == Scheduling::kList && program_.dialect == program::Dialect::kBeta1;
  }

  void leave_out(std::uint32_t i, std::uint32_t stand_in) {
    Entry& entry = timeline_.entries[i];
    entry.start = entry.busy_end = entry.end = entry.served_from = timeline_.entries[stand_in].end;
    entry.served_after = kNobody;
    entry.waited_for = stand_in;
    entry.served_core = entry.waited_core = me_;
    entry.wait = Wait::kData;
    entry.queue = dependencies_.queue(i);
    entry.left_out = true;
  }

  static constexpr std::size_t index(Queue queue) { return static_cast<std::size_t>(queue); }

  // Makes sure that heads_[q] is the ready time of the queue's next instruction; false when it
  // cannot be known yet.
  bool refresh(int q) {
    if (known_[q]) return true;
    if (next_[q] == streams_[q].size()) return false;
    const std::uint32_t i = streams_[q][next_[q]];
    Ready ready;
    ready.not_before(queue_free_[q], Wait::kEngine, last_[q], me_);
    for (const Dependency& dependency : dependencies_.of(i)) {
      if (chip_.options.fresh_buffers && only_reuses(i, dependency)) continue;
      if (!scheduled_[dependency.on]) return false;
      wait_for(ready, static_cast<Queue>(q), dependency);
    }
    if (!meetings_.empty() && !meet(i, ready)) return false;
    heads_[q] = ready;
    known_[q] = true;
    return true;
  }

  // A meeting begins for all when the last core is ready; false until that is known. Anything else
  // need not wait.
  bool meet(std::uint32_t i, Ready& ready) {
    const auto mine = std::lower_bound(meetings_.begin(), meetings_.end(), i);
    if (mine == meetings_.end() || *mine != i) return true;
    const auto number = static_cast<std::size_t>(mine - meetings_.begin());
    if (number >= chip_.complete) return true;
    std::vector<Chip::Arrival>& arrivals = chip_.meetings[number];
    const bool here = std::any_of(arrivals.begin(), arrivals.end(),
                                  [&](const Chip::Arrival& a) { return a.core == me_; });
    if (!here) {
      arrivals.push_back({ready, i, me_});
      chip_.met = static_cast<int>(arrivals.size()) == chip_.cores;
    }
    if (static_cast<int>(arrivals.size()) < chip_.cores) return false;
    for (const Chip::Arrival& other : arrivals)
      ready.not_before(other.ready.at, Wait::kBarrier, other.instruction, other.core);
    return true;
  }

  // Meetings put accesses in order by what they seem to write.
  bool only_reuses(std::uint32_t i, const Dependency& dependency) const {
    return dependency.hazard != Hazard::kRead && !program_.type(program_[i]).meeting &&
           !program_.type(program_[dependency.on]).meeting;
  }

  void wait_for(Ready& ready, Queue queue, const Dependency& dependency) const {
    const Entry& other = timeline_.entries[dependency.on];
    const bool same = other.queue == queue && !is_dma(queue);
    if (same && dependency.hazard != Hazard::kRead) return;  // in order already
    const bool reading = dependency.hazard == Hazard::kReuse;
    const Picoseconds done = reading && !is_dma(other.queue) ? other.busy_end : other.end;
    const bool signalled =
        same || is_dma(other.queue);  // the end of a DMA includes its notification
    ready.not_before(signalled ? done : done + semaphore_,
                     dependency.hazard == Hazard::kRead ? Wait::kData : Wait::kReuse, dependency.on,
                     me_);
  }

  void place(Queue queue, std::uint32_t i, Ready ready) {
    const program::Instruction& instruction = program_[i];
    const isa::InstructionType& type = program_.type(instruction);
    const void* args = program_.args(instruction);
    isa::Cost cost = cost_on(program_, i, queue, model_);
    Revision revision;
    if (chip_.options.revise) revision = chip_.options.revise(me_, i, cost);
    Entry& entry = timeline_.entries[i];
    entry.queue = queue;
    entry.by_hbm = false;
    if (revision.left_out) {
      entry.start = entry.busy_end = entry.end = entry.served_from = ready.at;
      entry.prelude = {};
      entry.served_after = kNobody;
      entry.served_core = me_;
    } else if (is_dma(queue)) {
      place_transfer(entry, queue, type, args, cost, revision.fixed, ready);
    } else {
      place_on_engine(entry, queue, type, args, cost, ready);
    }
    entry.wait = ready.wait;
    entry.waited_for = ready.for_whom;
    entry.waited_core = ready.core;
    queue_free_[index(queue)] = entry.busy_end;
    last_[index(queue)] = i;
    timeline_.total = std::max(timeline_.total, entry.end);
  }

  void place_on_engine(Entry& entry, Queue queue, const isa::InstructionType& type,
                       const void* args, const isa::Cost& cost, Ready& ready) {
    const auto [sbuf_lock, psum_lock] = locks(queue, type, args);
    if (sbuf_lock) ready.not_before(sbuf_port_.free, Wait::kPort, sbuf_port_.holder, me_);
    if (psum_lock) ready.not_before(psum_port_.free, Wait::kPort, psum_port_.holder, me_);
    if (queue == Queue::kTensor) {
      const TensorArray::Holder holder = array_.holder(cost.array_parts);
      ready.not_before(holder.until, Wait::kEngine, holder.instruction, me_);
    }
    entry.start = ready.at;
    entry.prelude = {};
    entry.served_from = entry.start;
    entry.served_after = kNobody;
    entry.served_core = me_;
    if (queue == Queue::kScalar && cost.table_set != 0 && !has_tables(cost.table_set)) {
      if (!chip_.options.tables_stay) table_sets_.clear();
      table_sets_.push_back(cost.table_set);
      entry.prelude = from_ns(core_.scalar.table_load);
      timeline_.table_loads += entry.prelude;
      ++timeline_.table_load_count;
    }
    Picoseconds busy = cost.occupancy;
    Picoseconds until_result = cost.latency - cost.occupancy;
    const auto i = static_cast<std::uint32_t>(&entry - timeline_.entries.data());
    if (queue == Queue::kTensor) {
      busy = ramp_.stretch(entry.start, busy);
      until_result += array_.take(cost, entry.start, busy, i);
      timeline_.flops += cost.flops;
    }
    entry.busy_end = entry.start + entry.prelude + busy;
    entry.end = entry.busy_end + until_result;
    timeline_.busy[index(queue)] += busy;
    if (sbuf_lock) sbuf_port_ = {entry.busy_end, i};
    if (psum_lock) psum_port_ = {entry.busy_end, i};
  }

  bool has_tables(std::int8_t set) const {
    return std::find(table_sets_.begin(), table_sets_.end(), set) != table_sets_.end();
  }

  // NeuronCore-v2: Vector and GpSimd exclude each other from SBUF, Vector and Scalar from PSUM.
  std::pair<bool, bool> locks(Queue queue, const isa::InstructionType& type,
                              const void* args) const {
    const bool may_sbuf =
        core_.sbuf.vector_gpsimd_exclusive && (queue == Queue::kVector || queue == Queue::kGpsimd);
    const bool may_psum =
        core_.psum.vector_scalar_exclusive && (queue == Queue::kVector || queue == Queue::kScalar);
    bool sbuf = false, psum = false;
    if (may_sbuf || may_psum) {
      isa::for_each_tile(type, args, [&](const isa::FieldInfo&, const isa::Tile& tile) {
        sbuf = sbuf || (may_sbuf && tile.space == memory::Space::kSbuf);
        psum = psum || (may_psum && tile.space == memory::Space::kPsum);
      });
    }
    return {sbuf, psum};
  }

  void place_transfer(Entry& entry, Queue queue, const isa::InstructionType& type, const void* args,
                      const isa::Cost& cost, double fixed, Ready& ready) {
    const catalog::Dma& dma = core_.dma;
    const isa::DmaWork& work = cost.dma;
    int first_lane = 0;
    isa::for_each_tile(type, args, [&](const isa::FieldInfo&, const isa::Tile& tile) {
      if (tile.on_chip()) first_lane = tile.start_partition;
    });
    const auto i = static_cast<std::uint32_t>(&entry - timeline_.entries.data());
    const Picoseconds issue = from_ns(fixed * issue_ns(work));
    if (work.descriptors != isa::DgeMode::kNone) {
      // A generator makes the descriptors of one transfer after the other, whatever their queue.
      Port& generator = generators_[generator_of(work)];
      ready.not_before(generator.free, Wait::kEngine, generator.holder, me_);
      generator = {ready.at + issue, i};
    }
    entry.start = ready.at;
    entry.busy_end = entry.start + issue;
    const double trigger =
        queue == Queue::kDmaStore ? dma.store_trigger_latency : dma.trigger_latency;
    const Picoseconds at_engines = entry.busy_end + from_ns(trigger) + cost.latency;
    const DmaEngines::Service service =
        dma_.serve(work, fixed, first_lane, at_engines, chip_.first[me_] + i);
    entry.by_hbm = service.by_hbm;
    entry.served_from = service.last_begin;
    entry.served_after = kNobody;
    entry.served_core = me_;
    if (service.after != TransferServer::kNoTransfer)
      std::tie(entry.served_core, entry.served_after) = chip_.located(service.after);
    entry.prelude = service.begin - entry.start;
    entry.end = service.end + notice(dma, work);
    timeline_.busy[index(queue)] += service.end - service.begin;
    timeline_.dma_bytes += work.bytes;
    timeline_.dma_elements += work.elements;
    timeline_.hbm_bytes += work.hbm_read + work.hbm_written;
  }

  // How long the engine that triggers a transfer is taken up; prebuilt descriptors cost the trigger
  // alone.
  double issue_ns(const isa::DmaWork& work) const {
    const catalog::Dma& dma = core_.dma;
    if (work.descriptors == isa::DgeMode::kSoftware)
      return dma.software_descriptor * static_cast<double>(work.elements);
    if (work.descriptors == isa::DgeMode::kHardware && dma.hardware_issue)
      return *dma.hardware_issue;
    return dma.issue;
  }

  static std::size_t generator_of(const isa::DmaWork& work) {
    if (work.descriptors == isa::DgeMode::kSoftware) return 2;
    return work.by_scalar ? 1 : 0;
  }

  struct Port {
    Picoseconds free;
    std::uint32_t holder = kNobody;
  };

  const program::Program& program_;
  Chip& chip_;
  const catalog::Core& core_;
  std::uint8_t me_;
  std::size_t to_place_;  // instructions, but for those that the compiler leaves out
  isa::CostModel model_;
  std::vector<std::uint32_t> stand_ins_;  // empty where nothing is left out
  KeptOrders kept_;                       // until the order is settled
  Dependencies dependencies_;
  TensorRamp ramp_;
  TensorArray array_;
  DmaEngines dma_;
  Picoseconds semaphore_;
  Timeline timeline_;
  std::vector<bool> scheduled_;
  std::vector<std::uint32_t> meetings_;  // with other cores, in program order
  std::size_t placed_ = 0;
  int best_ = -1;
  std::array<std::vector<std::uint32_t>, kQueueCount> streams_;
  std::array<std::size_t, kQueueCount> next_{};
  std::array<Ready, kQueueCount> heads_;
  std::array<bool, kQueueCount> known_{};
  std::array<Picoseconds, kQueueCount> queue_free_{};
  std::array<std::uint32_t, kQueueCount> last_ = [] {
    std::array<std::uint32_t, kQueueCount> nobody{};
    nobody.fill(kNobody);
    return nobody;
  }();
  Port sbuf_port_, psum_port_;
  std::array<Port, 3> generators_;       // of descriptors: behind Sync, behind Scalar, on GpSimd
  std::vector<std::int8_t> table_sets_;  // that are loaded: one, unless they stay
};

}  // namespace

namespace {

// What one core can draw is less than a stack gives; cores that run side by side are neighbours at
// the same stack.
double hbm_bandwidth(const catalog::Chip& chip, int cores) {
  if (cores == 1) return chip.hbm.bandwidth;
  return chip.hbm.bandwidth / chip.hbm.stacks * std::ceil(cores / chip.hbm.cores_per_stack);
}

}  // namespace

// Queues are in order and dependencies point backwards, so taking the queue head that can start
// first visits everything in the order of time: shared resources then see their users in that order
// too.
std::vector<Timeline> clock(std::span<const program::Program* const> cores,
                            const catalog::Chip& spec, const Options& options) {
  Chip chip{.spec = spec,
            .options = options,
            .cores = static_cast<int>(cores.size()),
            .hbm = {hbm_bandwidth(spec, static_cast<int>(cores.size()))},
            .first = {},
            .meetings = {}};
  std::vector<Clock> clocks;
  clocks.reserve(cores.size());
  std::size_t all = 0, work = 0;
  for (const program::Program* program : cores) {
    chip.first.push_back(static_cast<std::uint32_t>(all));
    clocks.emplace_back(*program, chip, static_cast<int>(clocks.size()),
                        options.scheduling.value_or(usual_scheduling(*program)));
    all += program->size();
    work += clocks.back().to_place();
  }
  chip.complete = clocks.empty() ? 0 : clocks.front().meetings();
  for (const Clock& clock : clocks) chip.complete = std::min(chip.complete, clock.meetings());
  chip.meetings.resize(chip.complete);
  for (std::size_t done = 0; done < work;) {
    chip.met = false;
    Clock* first = nullptr;
    for (Clock& clock : clocks) {
      if (clock.done() || !clock.find_first()) continue;
      if (!first || clock.first_start() < first->first_start()) first = &clock;
    }
    if (chip.met) continue;  // cores that were asked before it can go on too
    if (!first) internal_error("no instruction can start; {} of {} clocked", done, work);
    first->place_first();
    ++done;
  }
  std::vector<Timeline> timelines;
  for (Clock& clock : clocks) timelines.push_back(clock.take());
  return timelines;
}

Timeline clock(const program::Program& program, const catalog::Chip& chip, const Options& options) {
  const program::Program* const one = &program;
  return std::move(clock(std::span(&one, 1), chip, options).front());
}

}  // namespace trnsim::timing
