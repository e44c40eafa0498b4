#include "fabric/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.h"
#include "base/nearest.h"

namespace trnsim::fabric {
namespace {

constexpr std::array<std::string_view, 7> kNames = {
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "permute", "broadcast", "sendrecv"};
const std::vector<std::string> kAlgorithms = {
    "mesh", "single_step_mesh", "rdh", "kangaring", "ring", "direct"};

// How the ranks of a group lie: `local` on each of `chips` of each of `outer` instances of each of
// `systems`. Groups that do not fill chips and systems evenly have one rank after the other.
struct Lie {
  int local = 1, chips = 1;
  std::vector<int> outer;  // sizes of the axes between instances of a system
  std::int64_t systems = 1;
  bool even = true;
  bool whole_chips = false;  // all ranks of each chip
};

Lie find_lie(const Topology& topology, const Request& request) {
  Lie lie;
  const std::int64_t n = request.size;
  // Ranks of the group on the chip of the first one, and so on; all the others must do likewise.
  const auto run = [&](std::int64_t per) {
    std::int64_t count = 0;
    while (count < n && request.rank(count) / per == request.rank(0) / per) ++count;
    return count;
  };
  const auto uneven = [&] {
    lie = {};
    lie.chips = static_cast<int>(n);
    lie.even = false;
    return lie;
  };
  const auto is_even = [&](std::int64_t per, std::int64_t count) {
    if (n % count != 0) return false;
    if (request.ranks.empty()) return count == n || count == per;
    for (std::int64_t i = 0; i < n; ++i)
      if (request.rank(i) / per != request.rank(i / count * count) / per ||
          (i > 0 && i % count == 0 && request.rank(i) / per == request.rank(i - 1) / per))
        return false;
    return true;
  };
  const std::int64_t per_instance = std::int64_t{topology.inner_chips()} * topology.ranks_per_chip;
  const std::int64_t local = run(topology.ranks_per_chip), inner = run(per_instance),
                     system = run(topology.ranks_per_system());
  if (!is_even(topology.ranks_per_chip, local) || !is_even(per_instance, inner) ||
      !is_even(topology.ranks_per_system(), system))
    return uneven();
  lie.local = static_cast<int>(local);
  lie.whole_chips = local == topology.ranks_per_chip;
  lie.chips = static_cast<int>(inner / local);
  std::int64_t rest = system / inner, per = per_instance;
  for (std::size_t axis = static_cast<std::size_t>(topology.inner_axes);
       axis < topology.axes.size() && rest > 1; ++axis) {
    per *= topology.axes[axis].size;
    const std::int64_t along = run(per) / (inner * (system / inner / rest));
    if (along < 1 || rest % along != 0) return uneven();
    lie.outer.push_back(static_cast<int>(along));
    rest /= along;
  }
  if (rest != 1) return uneven();
  lie.systems = n / system;
  return lie;
}

// Two edge-disjoint Hamiltonian cycles of a k x k torus: Lee distance Gray codes.
std::vector<int> torus_cycle(int k, bool transposed) {
  std::vector<int> order;
  for (int high = 0; high < k; ++high) {
    for (int low = 0; low < k; ++low) {
      const int other = ((low - high) % k + k) % k;
      order.push_back(transposed ? other * k + high : high * k + other);
    }
  }
  return order;
}

bool is_torus_of_four(const Topology& topology, const Lie& lie) {
  return lie.even && lie.chips == topology.inner_chips() && topology.inner_axes == 2 &&
         std::all_of(topology.axes.begin(), topology.axes.begin() + 2, [](const Axis& axis) {
           return axis.kind == AxisKind::kRing && axis.size == 4;
         });
}

// The orders in which rings visit the chips of an instance.
Orders chip_orders(const Topology& topology, const Lie& lie) {
  const bool all = lie.chips == topology.inner_chips() && lie.even;
  const auto& axes = topology.axes;
  if (all && topology.inner_axes == 2 && axes[0].kind == AxisKind::kRing &&
      axes[1].kind == AxisKind::kRing && axes[0].size == axes[1].size && axes[0].size > 2) {
    Orders orders;
    for (const bool transposed : {false, true}) {
      const std::vector<int> cycle = torus_cycle(axes[0].size, transposed);
      orders.push_back(cycle);
      orders.emplace_back(cycle.rbegin(), cycle.rend());
    }
    return orders;
  }
  if (topology.inner_axes == 2 && lie.even && lie.chips % axes[0].size == 0) {  // rows, to and fro
    std::vector<int> order;
    for (int i = 0; i < lie.chips; ++i) {
      const int row = i / axes[0].size, column = i % axes[0].size;
      order.push_back(row * axes[0].size + (row % 2 != 0 ? axes[0].size - 1 - column : column));
    }
    return {order, {order.rbegin(), order.rend()}};
  }
  const bool ring = topology.inner_axes == 1 && axes[0].kind == AxisKind::kRing;
  return natural_order(lie.chips, ring || topology.inner_axes == 2);
}

// `width` members per chip, one after the other; every second pair of rings backwards, so that four
// rings use four streams within a chip.
Orders widened(const Orders& chips, int width) {
  Orders orders;
  for (const std::vector<int>& order : chips) {
    const bool backwards = orders.size() % 4 >= 2;
    orders.emplace_back();
    for (const int chip : order)
      for (int i = 0; i < width; ++i)
        orders.back().push_back(chip * width + (backwards ? width - 1 - i : i));
  }
  return orders;
}

// One ring through all instances; its channels enter and leave instances at different chips, so
// that every card carries one.
Orders flat_orders(const Topology& topology, const Lie& lie) {
  const Orders within = widened(chip_orders(topology, lie), lie.local);
  const int size = static_cast<int>(within.front().size());
  const int systems = static_cast<int>(lie.systems);
  if (systems == 1) return within;
  const int channels =
      std::clamp(topology.network.cards, 1, std::max(1, topology.choices.channels_max));
  const ResourceMap map(topology);
  const auto card = [&](int member) { return map.card_of(member / lie.local); };
  std::vector<int> in(static_cast<std::size_t>(map.cards)), out(in);
  Orders orders;
  for (int channel = 0; channel < channels; ++channel) {
    const auto& base = within[static_cast<std::size_t>(channel) % within.size()];
    const auto crowd = [&](int first) {  // how many channels enter and leave by the same cards
      const int last = (first + size - 1) % size;
      return in[static_cast<std::size_t>(card(base[static_cast<std::size_t>(first)]))] +
             out[static_cast<std::size_t>(card(base[static_cast<std::size_t>(last)]))];
    };
    int first = 0;
    for (int other = lie.local; other < size; other += lie.local)
      if (crowd(other) < crowd(first)) first = other;
    ++in[static_cast<std::size_t>(card(base[static_cast<std::size_t>(first)]))];
    ++out[static_cast<std::size_t>(
        card(base[static_cast<std::size_t>((first + size - 1) % size)]))];
    orders.emplace_back();
    for (int system = 0; system < systems; ++system)
      for (int i = 0; i < size; ++i)
        orders.back().push_back(system * size + base[static_cast<std::size_t>((first + i) % size)]);
  }
  return orders;
}

struct Both {
  Schedule reduce, gather;
  std::int64_t stride;
};

class Planner {
 public:
  Planner(const Topology& topology, Request request) : topology_(topology) {
    plan_.request = std::move(request);
    lie_ = find_lie(topology_, plan_.request);
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
    if (!lie_.even && !inner.empty() && inner != "ring")
      unsupported(
          "{} of these ranks, because they do not fill chips and instances evenly; ring "
          "works",
          forced);
    std::vector<Both> levels;
    if (is_flat(inner, outer)) {
      const Orders orders = flat_orders(topology_, lie_);
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
    if (!lie_.even) return true;
    if (!inner.empty()) return inner == "ring" && outer.empty() && lie_.systems > 1;
    const std::int64_t from = topology_.choices.flat_ring_from;
    return lie_.systems > 1 && from > 0 && measure_ >= from;
  }

  // The smallest messages: one step instead of several, if the copies take less than the steps.
  bool single_step_pays() const {
    const Choices& choices = topology_.choices;
    if (measure_ >= choices.mesh_below || topology_.steps.mesh_rank == 0 || !lie_.even)
      return false;
    if (lie_.systems > 1 || plan_.request.size < 2) return false;
    const double extra = static_cast<double>(plan_.request.size - 1) *
                         static_cast<double>(plan_.request.bytes()) /
                         static_cast<double>(topology_.steps.mesh_rank) * 1e12;
    const int steps = lie_.chips > 1 && lie_.local > 1 ? 3 : 1;
    const auto saved = steps * (topology_.steps.direct + topology_.steps.reduction).count;
    return 2 * extra < static_cast<double>(saved);  // the copies crowd the links as well
  }

  void add_levels(const std::string& inner, const std::string& outer, std::vector<Both>* levels) {
    std::int64_t stride = std::int64_t{lie_.chips} * lie_.local;
    std::int64_t in_system = stride;
    for (const int along : lie_.outer) in_system *= along;
    const bool small =
        inner == "mesh" || (inner.empty() && measure_ < topology_.choices.mesh_below);
    if (small && in_system / lie_.local <= topology_.choices.mesh_chips_max) {
      levels->push_back(mesh(static_cast<int>(in_system), lie_.local, 1));
      stride = in_system;
    } else if (topology_.choices.mesh_below == 0 && inner.empty()) {
      add_axes(levels);
    } else {
      if (stride > 1) levels->push_back(within_instance(inner));
      for (std::size_t i = 0; i < lie_.outer.size(); ++i) {
        const auto axis = static_cast<std::size_t>(topology_.inner_axes) + i;
        if (lie_.outer[i] > 1) levels->push_back(along_axis(axis, lie_.outer[i], stride));
        stride *= lie_.outer[i];
      }
    }
    if (lie_.systems > 1) levels->push_back(between(outer, in_system));
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
    if (lie_.local > 1) levels->push_back(rings(natural_order(lie_.local, false), false, 1));
    std::int64_t stride = lie_.local, left = lie_.chips;
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
    const int members = lie_.chips * lie_.local;
    const bool power = std::has_single_bit(static_cast<unsigned>(lie_.chips));
    std::string name = forced;
    if (name.empty()) {
      const bool middle = measure_ < topology_.choices.halving_below;
      name = topology_.axes[0].kind == AxisKind::kSwitch ? "direct"
             : middle && power && lie_.chips > 1         ? "rdh"
                                                         : "kangaring";
      if (name == "kangaring" && !can_pair()) name = "ring";
    }
    if (name == "mesh" || name == "direct") return mesh(members, lie_.local, 1, name == "mesh");
    if (name == "rdh") {
      if (!power)
        unsupported("rdh among {} chips, because recursive halving needs a power of two",
                    lie_.chips);
      return cube(members, lie_.local, 1, is_torus_of_four(topology_, lie_));
    }
    if (lie_.chips == 1 || lie_.chips * lie_.local == 2)
      return rings(natural_order(members, false), false, 1);
    if (name == "kangaring" && !can_pair())
      unsupported(
          "kangaring of these ranks, because it needs all ranks of each chip, in pairs, and "
          "at most {}",
          topology_.choices.kanga_ranks_max);
    const Orders chips = chip_orders(topology_, lie_);
    if (name == "kangaring") return rings(widened(chips, lie_.local / 2), true, 1);
    return rings(widened(chips, lie_.local), false, 1);
  }

  bool can_pair() const {
    return topology_.choices.pairs && lie_.whole_chips && lie_.local % 2 == 0 && lie_.chips > 1 &&
           lie_.chips * lie_.local <= topology_.choices.kanga_ranks_max;
  }

  Both between(const std::string& forced, std::int64_t stride) const {
    const int systems = static_cast<int>(lie_.systems);
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
  Lie lie_;
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
