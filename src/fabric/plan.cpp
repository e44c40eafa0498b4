#include "fabric/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.h"
#include "base/nearest.h"
#include "fabric/rank_layout.h"

namespace trnsim::fabric {
namespace {

constexpr std::array<std::string_view, 7> kNames = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "permute", "broadcast", "sendrecv"};
const std::vector<std::string> kAlgorithms = {
    "mesh", "single_step_mesh", "rdh", "kangaring", "ring", "direct"};

struct Both {
  Schedule reduce, gather;
  std::int64_t stride;
};

class Planner {
 public:
  Planner(const Topology& topology, Request request) : topology_(topology) {
    plan_.request = std::move(request);
    layout_ = rank_layout(topology_, plan_.request);
    const Collective collective = plan_.request.collective;
    // A table of sizes is printed for all_reduce, which moves everything twice.
    measure_ = plan_.request.bytes();
    if (collective == Collective::kAllGather || collective == Collective::kReduceScatter)
      measure_ /= 2;
  }

  Plan plan() {
    const Request& request = plan_.request;
    if (request.schedule) {
      whole(request.schedule);
      return std::move(plan_);
    }
    const int n = static_cast<int>(request.size);
    switch (request.collective) {
      case Collective::kAllToAll:
        whole(direct_all_to_all(n));
        break;
      case Collective::kBroadcast:
        whole(binomial_broadcast(n, 0));
        break;
      case Collective::kPermute:
      case Collective::kSendRecv:
        whole(permutation(n, pairs()));
        break;
      default:
        reducing();
    }
    return std::move(plan_);
  }

 private:
  void whole(Schedule schedule) {
    plan_.algorithm = schedule->name();
    plan_.stages.push_back({std::move(schedule), Phase::kWhole, 1, 0});
  }

  std::vector<std::pair<int, int>> pairs() const {
    if (!plan_.request.pairs.empty()) return plan_.request.pairs;
    const int n = static_cast<int>(plan_.request.size);
    std::vector<std::pair<int, int>> pairs;
    if (plan_.request.collective == Collective::kSendRecv) {
      for (int i = 0; i + 1 < n; i += 2) pairs.emplace_back(i, i + 1);
    } else {
      for (int i = 0; i < n; ++i) pairs.emplace_back(i, (i + 1) % n);
    }
    return pairs;
  }

  void reducing() {
    const Request& request = plan_.request;
    if (!topology_.choices.engines)
      unsupported("{} on {}, because {} has no engines for collectives; permute and sendrecv work",
                  collective_name(request.collective), topology_.name, topology_.accelerator);
    const std::string& forced = request.algorithm;
    const std::size_t plus = forced.find('+');
    const std::string inner = forced.substr(0, plus);
    const std::string outer = plus == std::string::npos ? std::string() : forced.substr(plus + 1);
    check_name(inner);
    check_name(outer);
    if (request.collective == Collective::kAllReduce &&
        (inner == "single_step_mesh" || (forced.empty() && single_step_pays())))
      return whole(single_step_mesh(static_cast<int>(request.size)));
    if (!layout_.even && !inner.empty() && inner != "ring")
      unsupported(
          "{} of these ranks, because they do not fill chips and instances evenly; ring "
          "works",
          forced);
    std::vector<Both> levels;
    if (is_flat(inner, outer)) {
      const Orders orders = flat_orders(topology_, layout_);
      levels.push_back({ring_reduce_scatter(orders, false), ring_all_gather(orders, false), 1});
    } else {
      add_levels(inner, outer, &levels);
    }
    put_together(levels);
  }

  void check_name(const std::string& name) const {
    if (name.empty() ||
        std::find(kAlgorithms.begin(), kAlgorithms.end(), name) != kAlgorithms.end())
      return;
    const std::string nearest = nearest_name(name, kAlgorithms);
    config_error(
        "there is no algorithm \"{}\"{}; known: {}, two joined by + for within and between "
        "instances",
        name, nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest),
        fmt::join(kAlgorithms, ", "));
  }

  bool is_flat(const std::string& inner, const std::string& outer) const {
    if (!layout_.even) return true;
    if (!inner.empty()) return inner == "ring" && outer.empty() && layout_.systems > 1;
    const std::int64_t from = topology_.choices.flat_ring_from;
    return layout_.systems > 1 && from > 0 && measure_ >= from;
  }

  // The smallest messages: one step instead of several, if the copies take less than the steps.
  bool single_step_pays() const {
    const Choices& choices = topology_.choices;
    if (measure_ >= choices.mesh_below || topology_.steps.mesh_rank == 0 || !layout_.even)
      return false;
    if (layout_.systems > 1 || plan_.request.size < 2) return false;
    const double extra = static_cast<double>(plan_.request.size - 1) *
                         static_cast<double>(plan_.request.bytes()) /
                         static_cast<double>(topology_.steps.mesh_rank) * 1e12;
    const int steps = layout_.chips > 1 && layout_.local > 1 ? 3 : 1;
    const auto saved = steps * (topology_.steps.direct + topology_.steps.reduction).count;
    return 2 * extra < static_cast<double>(saved);  // the copies crowd the links as well
  }

  void add_levels(const std::string& inner, const std::string& outer, std::vector<Both>* levels) {
    std::int64_t stride = std::int64_t{layout_.chips} * layout_.local;
    std::int64_t in_system = stride;
    for (const int along : layout_.outer) in_system *= along;
    const bool small =
        inner == "mesh" || (inner.empty() && measure_ < topology_.choices.mesh_below);
    if (small && in_system / layout_.local <= topology_.choices.mesh_chips_max) {
      levels->push_back(mesh(static_cast<int>(in_system), layout_.local, 1));
      stride = in_system;
    } else if (topology_.choices.mesh_below == 0 && inner.empty()) {
      add_axes(levels);
    } else {
      if (stride > 1) levels->push_back(within_instance(inner));
      for (std::size_t i = 0; i < layout_.outer.size(); ++i) {
        const auto axis = static_cast<std::size_t>(topology_.inner_axes) + i;
        if (layout_.outer[i] > 1) levels->push_back(along_axis(axis, layout_.outer[i], stride));
        stride *= layout_.outer[i];
      }
    }
    if (layout_.systems > 1) levels->push_back(between(outer, in_system));
  }

  static Both mesh(int members, int local, std::int64_t stride, bool small = true) {
    return {mesh_reduce_scatter(members, local, small), mesh_all_gather(members, local, small),
            stride};
  }
  static Both cube(int members, int local, std::int64_t stride, bool torus = false) {
    return {halving_reduce_scatter(members, local, torus),
            doubling_all_gather(members, local, torus), stride};
  }
  static Both rings(const Orders& orders, bool pairs, std::int64_t stride) {
    return {ring_reduce_scatter(orders, pairs), ring_all_gather(orders, pairs), stride};
  }

  // Rings, or direct exchange through switches, one axis after the other: where no runtime of the
  // vendor's chooses otherwise.
  void add_axes(std::vector<Both>* levels) {
    if (layout_.local > 1) levels->push_back(rings(natural_order(layout_.local, false), false, 1));
    std::int64_t stride = layout_.local, left = layout_.chips;
    for (std::size_t axis = 0; axis < topology_.axes.size() && left > 1; ++axis) {
      const int along = static_cast<int>(std::min<std::int64_t>(left, topology_.axes[axis].size));
      if (left % along != 0)
        unsupported("{} ranks on {}, because they fill no axis evenly", plan_.request.size,
                    topology_.name);
      if (along > 1) levels->push_back(along_axis(axis, along, stride));
      stride *= along;
      left /= along;
    }
  }

  Both along_axis(std::size_t axis, int members, std::int64_t stride) const {
    if (topology_.axes[axis].kind == AxisKind::kSwitch) return mesh(members, 1, stride, false);
    const bool circle =
        topology_.axes[axis].kind == AxisKind::kRing && members == topology_.axes[axis].size;
    return rings(natural_order(members, circle && members > 2), false, stride);
  }

  Both within_instance(const std::string& forced) const {
    const int members = layout_.chips * layout_.local;
    const bool power = std::has_single_bit(static_cast<unsigned>(layout_.chips));
    std::string name = forced;
    if (name.empty()) {
      const bool middle = measure_ < topology_.choices.halving_below;
      name = topology_.axes[0].kind == AxisKind::kSwitch ? "direct"
             : middle && power && layout_.chips > 1      ? "rdh"
                                                         : "kangaring";
      if (name == "kangaring" && !can_pair()) name = "ring";
    }
    if (name == "mesh" || name == "direct") return mesh(members, layout_.local, 1, name == "mesh");
    if (name == "rdh") {
      if (!power)
        unsupported("rdh among {} chips, because recursive halving needs a power of two",
                    layout_.chips);
      return cube(members, layout_.local, 1, is_torus_of_four(topology_, layout_));
    }
    if (layout_.chips == 1 || layout_.chips * layout_.local == 2)
      return rings(natural_order(members, false), false, 1);
    if (name == "kangaring" && !can_pair())
      unsupported(
          "kangaring of these ranks, because it needs all ranks of each chip, in pairs, and "
          "at most {}",
          topology_.choices.kanga_ranks_max);
    const Orders chips = chip_orders(topology_, layout_);
    if (name == "kangaring") return rings(widened(chips, layout_.local / 2), true, 1);
    return rings(widened(chips, layout_.local), false, 1);
  }

  bool can_pair() const {
    return topology_.choices.pairs && layout_.whole_chips && layout_.local % 2 == 0 &&
           layout_.chips > 1 && layout_.chips * layout_.local <= topology_.choices.kanga_ranks_max;
  }

  Both between(const std::string& forced, std::int64_t stride) const {
    const int systems = static_cast<int>(layout_.systems);
    const bool power = std::has_single_bit(static_cast<unsigned>(systems));
    std::string name = forced;
    if (name.empty()) {
      const Choices& choices = topology_.choices;
      name = measure_ < choices.mesh_below && systems <= choices.mesh_chips_max ? "mesh"
             : power && (systems > kFew || measure_ < choices.halving_below)    ? "rdh"
                                                                                : "ring";
    }
    if (name == "rdh" && !power)
      unsupported("rdh among {} systems, because recursive halving needs a power of two", systems);
    if (name == "mesh" || name == "direct") return mesh(systems, 1, stride, false);
    if (name == "rdh") return cube(systems, 1, stride);
    return rings(natural_order(systems, false), false, stride);
  }

  void put_together(const std::vector<Both>& levels) {
    for (std::size_t i = 0; i < levels.size(); ++i) {
      plan_.levels.push_back({levels[i].reduce, levels[i].stride});
      const std::string name = levels[i].reduce->name();
      plan_.algorithm += (i ? "+" : "") + name;
    }
    if (levels.empty()) plan_.algorithm = "none";
    const Collective collective = plan_.request.collective;
    const int count = static_cast<int>(levels.size());
    if (collective != Collective::kAllGather)
      for (int i = 0; i < count; ++i)
        plan_.stages.push_back({levels[static_cast<std::size_t>(i)].reduce, Phase::kReduce,
                                levels[static_cast<std::size_t>(i)].stride, i});
    if (collective != Collective::kReduceScatter)
      for (int i = count - 1; i >= 0; --i)
        plan_.stages.push_back({levels[static_cast<std::size_t>(i)].gather, Phase::kGather,
                                levels[static_cast<std::size_t>(i)].stride, i});
  }

  static constexpr int kFew = 4;  // systems that a ring suits better than halving, if large

  const Topology& topology_;
  Plan plan_;
  RankLayout layout_;
  std::int64_t measure_ = 0;
};

}  // namespace

Collective collective_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Collective>(i);
  const std::string nearest = nearest_name(name, collective_names());
  config_error("there is no collective \"{}\"{}; known: {}", name,
               nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest),
               fmt::join(kNames, ", "));
}

std::string_view collective_name(Collective collective) {
  return kNames[static_cast<std::size_t>(collective)];
}

std::vector<std::string> collective_names() { return {kNames.begin(), kNames.end()}; }

Range Plan::region(std::int64_t number, int level) const {
  Range range{0, request.elements};
  for (int i = 0; i < level; ++i) {
    const Level& narrowing = levels[static_cast<std::size_t>(i)];
    const int members = narrowing.schedule->members();
    const int member = static_cast<int>(number / narrowing.stride % members);
    range = part(range, {narrowing.schedule->owned(member), 1, members});
  }
  return range;
}

std::vector<Range> Plan::pieces(const Stage& stage, std::int64_t number, int channel,
                                Chunks chunks) const {
  const Range whole = region(number, stage.level);
  std::vector<Range> pieces;
  for (int i = 0; i < chunks.count; ++i) {
    const Range chunk = part(whole, {chunks.first + i, 1, chunks.of});
    pieces.push_back(part(chunk, {channel, 1, stage.schedule->channels()}));
  }
  return pieces;
}

std::int64_t Plan::size(const Stage& stage, std::int64_t number, int channel, Chunks chunks) const {
  const std::int64_t whole = region(number, stage.level).size();
  const std::int64_t cut = std::int64_t{chunks.of} * stage.schedule->channels();
  if (whole % cut == 0) return whole / cut * chunks.count;
  std::int64_t size = 0;
  for (const Range& piece : pieces(stage, number, channel, chunks)) size += piece.size();
  return size;
}

Plan make_plan(const Topology& topology, Request request) {
  if (request.size < 1 || request.groups < 1 || request.size > topology.ranks() / request.groups)
    config_error("{} has {} ranks, not {}", topology.name, topology.ranks(),
                 request.size * request.groups);
  if (request.size > kMembersMax)
    unsupported("{} ranks in one group, because at most {} are modelled", request.size,
                kMembersMax);
  for (const std::int64_t rank : request.ranks)
    if (rank < 0 || rank >= topology.ranks())
      config_error("rank {} is not on {}, which has ranks 0 to {}", rank, topology.name,
                   topology.ranks() - 1);
  return Planner(topology, std::move(request)).plan();
}

}  // namespace trnsim::fabric
