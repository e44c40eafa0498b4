#include "fabric/engine.h"

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>

#include "base/error.h"
#include "fabric/sharing.h"

namespace trnsim::fabric {
namespace {

enum class Event : std::uint8_t { kBegin, kDepart, kRelease, kDeliver };

// A transfer on its way: who waits for it.
struct Journey {
  Event next = Event::kDepart;
  int from = 0, to = 0;  // representatives
  int stage = 0, channel = 0, round = 0;
  std::int64_t bytes = 0;
  Picoseconds latency{};  // until the receiver has it, after it has left
  Picoseconds hold{};     // until the sender goes on
  std::vector<Use> uses{};
};

struct Early {
  int stage, channel, round, count;
};

// One channel of the stage that a rank is in.
struct Lane {
  int round = -1, sends = 0, receives = 0;
};

struct Rank {
  int stage = -1, open = 0;  // channels that still run
  std::vector<Lane> lanes;
  std::vector<Early> early;  // arrivals for rounds that the rank has not entered
  Picoseconds end;
};

class Engine {
 public:
  Engine(const Topology& topology, const Plan& plan, const ClockOptions& options)
      : topology_(topology), plan_(plan), router_(topology) {
    cost_.fold = find_fold(topology, plan, options.fold && options.arrivals.empty());
    const auto& representatives = cost_.fold.representatives;
    ranks_.resize(representatives.size());
    if (cost_.fold.kind != FoldKind::kNone || !plan.request.ranks.empty())
      for (std::size_t i = 0; i < representatives.size(); ++i)
        index_.emplace(representatives[i], static_cast<int>(i));
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const std::int64_t arrival = options.arrivals.empty() ? 0 : options.arrivals[i].count;
      push(arrival + topology.steps.start.count,
           {.next = Event::kBegin, .from = static_cast<int>(i)});
    }
  }

  Cost run() {
    std::vector<int> ended;
    while (true) {
      const std::int64_t ends = shares_.next_end();
      const bool queued = !queue_.empty();
      if (ends < 0 && !queued) break;
      now_ = !queued ? ends : ends < 0 ? queue_.top().time : std::min(ends, queue_.top().time);
      ended.clear();
      shares_.advance(now_, &ended);
      for (const int transfer : ended) leave(running_[static_cast<std::size_t>(transfer)]);
      while (!queue_.empty() && queue_.top().time == now_) {
        const Journey journey = std::move(waiting_[queue_.top().slot]);
        free_slots_.push_back(queue_.top().slot);
        queue_.pop();
        happen(journey);
      }
    }
    return finish();
  }

 private:
  struct Timed {
    std::int64_t time;
    std::uint64_t order;
    std::size_t slot;
    bool operator>(const Timed& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  void happen(const Journey& journey) {
    switch (journey.next) {
      case Event::kBegin:
        return enter_stage(journey.from, 0);
      case Event::kDepart:
        return depart(journey);
      case Event::kRelease:
        return release(journey);
      case Event::kDeliver:
        return deliver(journey);
    }
  }

  void push(std::int64_t time, Journey journey) {
    std::size_t slot = waiting_.size();
    if (free_slots_.empty()) {
      waiting_.push_back(std::move(journey));
    } else {
      slot = free_slots_.back();
      free_slots_.pop_back();
      waiting_[slot] = std::move(journey);
    }
    queue_.push({time, pushed_++, slot});
  }

  const Stage& stage(int number) const { return plan_.stages[static_cast<std::size_t>(number)]; }
  std::int64_t number(int rank) const {
    return cost_.fold.representatives[static_cast<std::size_t>(rank)];
  }
  int representative(std::int64_t number) const {
    const std::int64_t folded = cost_.fold.rank(number);
    return index_.empty() ? static_cast<int>(folded) : index_.at(folded);
  }

  void enter_stage(int rank, int next) {
    Rank& r = ranks_[static_cast<std::size_t>(rank)];
    r.stage = next;
    if (next == static_cast<int>(plan_.stages.size())) {
      r.end = {now_};
      return;
    }
    const int channels = stage(next).schedule->channels();
    r.open = channels;
    r.lanes.assign(static_cast<std::size_t>(channels), {});
    for (int channel = 0; channel < channels; ++channel) next_round(rank, channel);
  }

  // Enters rounds until one has something to wait for. A rank that leaves its last channel goes on
  // to the next stage.
  void next_round(int rank, int channel) {
    Rank& r = ranks_[static_cast<std::size_t>(rank)];
    const int stage_number = r.stage;
    const Stage& in = stage(stage_number);
    const int member = plan_.member(in, number(rank));
    Lane& lane = r.lanes[static_cast<std::size_t>(channel)];
    while (++lane.round < in.schedule->rounds()) {
      sends_.clear();
      in.schedule->sends(member, channel, lane.round, sends_);
      lane.sends = static_cast<int>(sends_.size());
      lane.receives = in.schedule->receives(member, channel, lane.round) -
                      take_early(&r, {stage_number, channel, lane.round, 0});
      for (const Send& send : sends_) post(rank, in, channel, lane.round, send);
      if (lane.sends > 0 || lane.receives > 0) return;
    }
    if (--r.open == 0) enter_stage(rank, stage_number + 1);
  }

  static int take_early(Rank* rank, const Early& wanted) {
    for (Early& early : rank->early) {
      if (early.stage != wanted.stage || early.channel != wanted.channel ||
          early.round != wanted.round)
        continue;
      const int count = early.count;
      early = rank->early.back();
      rank->early.pop_back();
      return count;
    }
    return 0;
  }

  void post(int rank, const Stage& in, int channel, int round, const Send& send) {
    const std::int64_t own = number(rank), peer = plan_.peer(in, own, send.to);
    Journey journey{.from = rank,
                    .to = representative(peer),
                    .stage = ranks_[static_cast<std::size_t>(rank)].stage,
                    .channel = channel,
                    .round = round};
    journey.bytes = plan_.size(in, own, channel, send.chunks) * plan_.request.element_bytes;
    const std::int64_t source = plan_.request.rank(own), target = plan_.request.rank(peer);
    set_uses(&journey, in, source, target, send);
    push(now_ + step_time(in.schedule->step(round)), std::move(journey));
  }

  std::int64_t step_time(StepKind kind) const {
    const StepCosts& steps = topology_.steps;
    if (kind == StepKind::kRing) return steps.ring.count;
    return steps.direct.count + (kind == StepKind::kDirectReducing ? steps.reduction.count : 0);
  }

  // What the transfer occupies, and how long the way takes beside the bytes.
  void set_uses(Journey* journey, const Stage& in, std::int64_t source, std::int64_t target,
                const Send& send) {
    const ResourceMap& map = router_.resources();
    const std::int64_t from = topology_.chip_of(source), to = topology_.chip_of(target);
    const Route route = router_.route(from, to);
    for (const std::int64_t link : route.links) add_use(journey, link, 1);
    const auto of_chip = [&](std::int64_t chip) {
      return chip / map.chips * map.per_system + map.memory(static_cast<int>(chip % map.chips));
    };
    if (plan_.request.in_memory && topology_.memory > 0) {
      add_use(journey, of_chip(from), send.reads);
      add_use(journey, of_chip(to), send.writes);
    }
    if (topology_.steps.mesh_rank > 0 && in.schedule->slow_port()) {
      const std::int64_t per = topology_.ranks_per_system();
      add_use(journey,
              source / per * map.per_system + map.mesh_port(static_cast<int>(source % per)),
              (send.reads + 1) / 2);  // a pass takes two inputs
    }
    if (topology_.steps.stream > 0 &&
        source / topology_.ranks_per_system() == target / topology_.ranks_per_system())
      journey->uses.push_back({stream(source, target), 1});
    journey->latency = route.latency;
    if (source / topology_.ranks_per_system() != target / topology_.ranks_per_system() &&
        journey->bytes > 0)
      journey->hold = topology_.steps.network;
  }

  void add_use(Journey* journey, std::int64_t resource, int weight) {
    const std::int64_t folded = cost_.fold.resource(resource, router_.resources());
    const auto [found, is_new] = dense_.try_emplace(folded, 0);
    if (is_new) {
      const std::int64_t capacity = router_.resources().capacity(folded % cost_.fold.per_system);
      found->second = shares_.add_resource(std::max<std::int64_t>(1, capacity));
      touched_.resize(static_cast<std::size_t>(found->second) + 1);
      touched_[static_cast<std::size_t>(found->second)].resource = folded;
    }
    for (Use& use : journey->uses) {
      if (use.resource == found->second) {
        use.weight += weight;
        return;
      }
    }
    journey->uses.push_back({found->second, weight});
  }

  // The queue from one rank to another: both kinds of ring channels share it.
  int stream(std::int64_t source, std::int64_t target) {
    const auto [found, is_new] = streams_.try_emplace({source, target}, 0);
    if (is_new) {
      found->second = shares_.add_resource(topology_.steps.stream);
      touched_.resize(static_cast<std::size_t>(found->second) + 1);
      Touched& touched = touched_[static_cast<std::size_t>(found->second)];
      touched.source = source;
      touched.target = target;
    }
    return found->second;
  }

  void depart(const Journey& journey) {
    ++cost_.transfers;
    for (const Use& use : journey.uses)
      touched_[static_cast<std::size_t>(use.resource)].bytes += use.weight * journey.bytes;
    if (journey.bytes == 0 || journey.uses.empty()) return leave(journey);
    const int transfer = shares_.start(journey.bytes, journey.uses);
    if (running_.size() <= static_cast<std::size_t>(transfer))
      running_.resize(static_cast<std::size_t>(transfer) + 1);
    running_[static_cast<std::size_t>(transfer)] = journey;
  }

  // The data has left: the sender goes on after its hold, the receiver gets it after the latency.
  void leave(const Journey& left) {
    const Journey journey = left;  // entering a round may reuse the slot
    then(journey, Event::kDeliver, journey.latency);
    then(journey, Event::kRelease, journey.hold);
  }

  void then(const Journey& journey, Event next, Picoseconds after) {
    if (after.count == 0) return next == Event::kDeliver ? deliver(journey) : release(journey);
    Journey later{.next = next,
                  .from = journey.from,
                  .to = journey.to,
                  .stage = journey.stage,
                  .channel = journey.channel,
                  .round = journey.round};
    push(now_ + after.count, std::move(later));
  }

  void release(const Journey& journey) {
    Lane& lane = ranks_[static_cast<std::size_t>(journey.from)]
                     .lanes[static_cast<std::size_t>(journey.channel)];
    --lane.sends;
    if (lane.sends == 0 && lane.receives == 0) next_round(journey.from, journey.channel);
  }

  void deliver(const Journey& journey) {
    Rank& receiver = ranks_[static_cast<std::size_t>(journey.to)];
    const bool present =
        receiver.stage == journey.stage &&
        receiver.lanes[static_cast<std::size_t>(journey.channel)].round == journey.round;
    if (!present) return note_early(&receiver, journey);
    Lane& lane = receiver.lanes[static_cast<std::size_t>(journey.channel)];
    --lane.receives;
    if (lane.sends == 0 && lane.receives == 0) next_round(journey.to, journey.channel);
  }

  static void note_early(Rank* rank, const Journey& journey) {
    for (Early& early : rank->early) {
      if (early.stage == journey.stage && early.channel == journey.channel &&
          early.round == journey.round) {
        ++early.count;
        return;
      }
    }
    rank->early.push_back({journey.stage, journey.channel, journey.round, 1});
  }

  Cost finish() {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const Rank& rank = ranks_[i];
      if (rank.stage != static_cast<int>(plan_.stages.size()))
        config_error("the schedule {} never ends: rank {} waits in round {} for what nobody sends",
                     plan_.algorithm, plan_.request.rank(number(static_cast<int>(i))),
                     rank.lanes.empty() ? 0 : rank.lanes.front().round);
      cost_.ends.push_back(rank.end);
      cost_.time = std::max(cost_.time, rank.end);
    }
    const ResourceMap& map = router_.resources();
    for (std::size_t i = 0; i < touched_.size(); ++i) {
      const Touched& touched = touched_[i];
      const bool is_stream = touched.resource < 0;
      cost_.traffic.push_back({is_stream
                                   ? fmt::format("stream {} -> {}", touched.source, touched.target)
                                   : map.name(touched.resource),
                               touched.bytes, shares_.capacity(static_cast<int>(i)),
                               !is_stream && map.is_link(touched.resource)});
    }
    return std::move(cost_);
  }

  struct PairHash {
    std::size_t operator()(const std::pair<std::int64_t, std::int64_t>& p) const {
      return static_cast<std::size_t>(p.first * 0x9E3779B97F4A7C15LL + p.second);
    }
  };
  struct Touched {
    std::int64_t resource = -1, source = 0, target = 0, bytes = 0;
  };

  const Topology& topology_;
  const Plan& plan_;
  Router router_;
  Cost cost_;
  FairShares shares_;
  std::int64_t now_ = 0;
  std::uint64_t pushed_ = 0;
  std::vector<Rank> ranks_;
  std::unordered_map<std::int64_t, int> index_, dense_;
  std::unordered_map<std::pair<std::int64_t, std::int64_t>, int, PairHash> streams_;
  std::vector<Touched> touched_;
  std::vector<Journey> waiting_, running_;
  std::vector<std::size_t> free_slots_;
  std::priority_queue<Timed, std::vector<Timed>, std::greater<>> queue_;
  std::vector<Send> sends_;
};

}  // namespace

double Cost::share(const Traffic& used) const {
  if (time.count == 0) return 0;
  return static_cast<double>(used.bytes) / static_cast<double>(used.capacity) * 1e12 /
         static_cast<double>(time.count);
}

const Traffic* Cost::binding() const {
  const Traffic* fullest = nullptr;
  for (const Traffic& used : traffic)
    if (used.bytes > 0 && (!fullest || share(used) > share(*fullest))) fullest = &used;
  return fullest;
}

Cost clock(const Topology& topology, const Plan& plan, const ClockOptions& options) {
  return Engine(topology, plan, options).run();
}

}  // namespace trnsim::fabric
