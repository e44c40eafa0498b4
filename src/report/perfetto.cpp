#include "report/perfetto.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "report/instruction_text.h"
#include "report/memory_use.h"
#include "report/output_file.h"
#include "report/trace_packets.h"

namespace trnsim::report {
namespace {

using perfetto::Annotation;
using perfetto::TracePackets;
using timing::Entry;
using timing::kNobody;

// One run's part of the trace.
class RunTracks {
 public:
  // first_pid: of the launch's first core.
  RunTracks(TracePackets& out, std::span<const Run> launch, std::size_t core,
            std::size_t launch_number, int first_pid, Picoseconds offset)
      : out_(out),
        launch_(launch),
        core_(core),
        run_(launch[core]),
        entries_(run_.timeline->entries),
        first_process_(static_cast<std::uint64_t>(first_pid) << 32),
        process_(first_process_ + (static_cast<std::uint64_t>(core) << 32)),
        offset_(offset),
        completion_(from_ns(run_.chip->core.dma.completion_latency)) {
    out_.process(process_, first_pid + static_cast<int>(core),
                 fmt::format("{} (launch {}, core {})", run_.kernel, launch_number, run_.core));
  }

  void write() {
    find_flows();
    write_engines();
    write_transfers();
    write_counters();
  }

 private:
  std::uint64_t new_track() { return process_ + ++tracks_; }
  std::uint64_t flow_id(std::size_t core, std::uint32_t waiter) const {
    return first_process_ + (static_cast<std::uint64_t>(core) << 32) + waiter + 1;
  }

  // The transfer or the engine that held an instruction up last, where the queue's order does not
  // already show it.
  struct Cause {
    std::size_t core;
    std::uint32_t instruction;
  };
  std::optional<Cause> cause(std::size_t core, const Entry& entry) const {
    const bool served = entry.served_after != kNobody;
    const std::uint32_t other = served ? entry.served_after : entry.waited_for;
    if (other == kNobody) return std::nullopt;
    const std::size_t whose = served ? entry.served_core : entry.waited_core;
    const bool in_order =
        whose == core && launch_[whose].timeline->entries[other].queue == entry.queue;
    return in_order ? std::nullopt : std::optional(Cause{whose, other});
  }

  // Arrows from this core's instructions, to those of any core.
  void find_flows() {
    for (std::size_t core = 0; core < launch_.size(); ++core) {
      const std::vector<Entry>& waiters = launch_[core].timeline->entries;
      for (std::uint32_t i = 0; i < waiters.size(); ++i) {
        const auto from = cause(core, waiters[i]);
        if (from && from->core == core_) flows_.emplace_back(from->instruction, flow_id(core, i));
      }
    }
    std::sort(flows_.begin(), flows_.end());
  }

  void begin(std::uint64_t track, std::uint32_t i, Picoseconds at) {
    const program::Program& program = *run_.program;
    const Entry& entry = entries_[i];
    const program::Site& where = site(program, i);
    std::vector<Annotation> notes{{"instruction", std::int64_t{i}},
                                  {"opcode", std::string(program.type(program[i]).info.name)},
                                  {"operands", operands(program, i)},
                                  {"waited for", std::string(timing::wait_name(entry.wait))},
                                  {"start ps", entry.start.count},
                                  {"busy until ps", entry.busy_end.count},
                                  {"result at ps", entry.end.count}};
    if (!where.file.empty())
      notes.push_back({"line", fmt::format("{}:{}", where.file, where.line)});
    if (entry.waited_for != kNobody)
      notes.push_back({"waited for instruction", std::int64_t{entry.waited_for}});
    if (entry.waited_for != kNobody && entry.waited_core != core_)
      notes.push_back({"waited for core", std::int64_t{launch_[entry.waited_core].core}});
    if (entry.served_after != kNobody)
      notes.push_back({"served after instruction", std::int64_t{entry.served_after}});
    std::vector<std::uint64_t> out, in;
    for (auto flow = std::lower_bound(flows_.begin(), flows_.end(), std::pair{i, std::uint64_t{0}});
         flow != flows_.end() && flow->first == i; ++flow) {
      out.push_back(flow->second);
    }
    if (cause(core_, entry)) in.push_back(flow_id(core_, i));
    out_.begin(track, offset_ + at, label(program, i), notes, out, in);
  }

  void write_engines() {
    std::array<std::uint64_t, timing::kQueueCount> tracks{};
    for (const Entry& entry : entries_) {
      if (!timing::is_dma(entry.queue)) tracks[static_cast<std::size_t>(entry.queue)] = 1;
    }
    for (std::size_t q = 0; q < tracks.size(); ++q) {
      if (!tracks[q]) continue;
      tracks[q] = new_track();
      out_.track(tracks[q], process_, static_cast<int>(q),
                 timing::queue_name(static_cast<timing::Queue>(q)));
    }
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      if (timing::is_dma(entry.queue)) continue;
      const std::uint64_t track = tracks[static_cast<std::size_t>(entry.queue)];
      begin(track, i, entry.start);
      if (entry.prelude.count > 0) {
        out_.begin(track, offset_ + entry.start, "activation table load");
        out_.end(track, offset_ + entry.start + entry.prelude);
      }
      out_.end(track, offset_ + entry.busy_end);
    }
  }

  struct Lane {
    std::uint64_t track;
    Picoseconds free;
  };

  // A transfer's slice lasts while its data move. Those of one queue overlap, so each takes the
  // first lane that is free; lanes of one name are shown as one track.
  void write_transfers() {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      if (timing::is_dma(entries_[i].queue)) order.push_back(i);
    }
    const auto begin_of = [&](std::uint32_t i) { return entries_[i].start + entries_[i].prelude; };
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return begin_of(a) < begin_of(b); });
    std::array<std::vector<Lane>, timing::kQueueCount> lanes;
    for (const std::uint32_t i : order) {
      const auto q = static_cast<std::size_t>(entries_[i].queue);
      const Picoseconds from = begin_of(i), to = std::max(from, entries_[i].end - completion_);
      auto lane = std::find_if(lanes[q].begin(), lanes[q].end(),
                               [&](const Lane& l) { return l.free <= from; });
      if (lane == lanes[q].end()) {
        lanes[q].push_back({new_track(), {}});
        lane = lanes[q].end() - 1;
        out_.track(lane->track, process_, static_cast<int>(q),
                   timing::queue_name(entries_[i].queue));
      }
      begin(lane->track, i, from);
      out_.end(lane->track, offset_ + to);
      lane->free = to;
    }
  }

  void write_counters() {
    constexpr int kAfterQueues = timing::kQueueCount;
    for (const auto& [space, name, rank] :
         {std::tuple{memory::Space::kSbuf, "SBUF per partition", kAfterQueues},
          {memory::Space::kPsum, "PSUM per partition", kAfterQueues + 1}}) {
      const std::vector<Use> uses = use_over_time(run_, space);
      if (uses.empty()) continue;
      const std::uint64_t track = new_track();
      out_.counter_track(track, process_, rank, name, "bytes");
      for (const Use& use : uses) out_.count(track, offset_ + use.at, use.bytes);
    }
    write_bandwidth(kAfterQueues + 2);
  }

  // The sum of the rates of all transfers under way, each at its mean rate.
  void write_bandwidth(int rank) {
    std::vector<std::pair<Picoseconds, double>> changes;
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = entries_[i];
      const isa::Tile* tile = main_tile(*run_.program, i);
      if (!timing::is_dma(entry.queue) || !tile) continue;
      const Picoseconds from = entry.start + entry.prelude, to = entry.end - completion_;
      if (to <= from) continue;
      const double rate = static_cast<double>(tile->bytes()) / (to - from).ns();
      changes.emplace_back(from, rate);
      changes.emplace_back(to, -rate);
    }
    if (changes.empty()) return;
    std::sort(changes.begin(), changes.end());
    const std::uint64_t track = new_track();
    out_.counter_track(track, process_, rank, "DMA bandwidth", "GB/s");
    double rate = 0;
    for (std::size_t k = 0; k < changes.size(); ++k) {
      rate += changes[k].second;
      const bool last = k + 1 == changes.size();
      if (!last && changes[k + 1].first == changes[k].first) continue;
      out_.count(track, offset_ + changes[k].first, last ? 0.0 : std::max(0.0, rate));
    }
  }

  TracePackets& out_;
  std::span<const Run> launch_;
  std::size_t core_;
  const Run& run_;
  const std::vector<Entry>& entries_;
  std::uint64_t first_process_;  // number of its track: those of the other cores follow
  std::uint64_t process_;
  Picoseconds offset_;
  Picoseconds completion_;
  std::uint64_t tracks_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> flows_;  // from, number of the arrow
};

}  // namespace

std::string perfetto_trace(std::span<const Run> runs) {
  TracePackets packets;
  int pid = 1;
  Picoseconds offset;
  const auto all = launches(runs);
  for (std::size_t l = 0; l < all.size(); ++l) {
    for (std::size_t core = 0; core < all[l].size(); ++core)
      RunTracks(packets, all[l], core, l, pid, offset).write();
    pid += static_cast<int>(all[l].size());
    offset += latency(all[l]);
  }
  return packets.bytes();
}

void write_perfetto(std::span<const Run> runs, const std::filesystem::path& path) {
  write_file(path, perfetto_trace(runs));
}

}  // namespace trnsim::report
