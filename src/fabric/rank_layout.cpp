#include "fabric/rank_layout.h"

#include <algorithm>

#include "fabric/plan.h"

namespace trnsim::fabric {
namespace {

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

}  // namespace

RankLayout rank_layout(const Topology& topology, const Request& request) {
  RankLayout layout;
  const std::int64_t n = request.size;
  // Ranks of the group on the chip of the first one, and so on; all the others must do likewise.
  const auto run = [&](std::int64_t per) {
    std::int64_t count = 0;
    while (count < n && request.rank(count) / per == request.rank(0) / per) ++count;
    return count;
  };
  const auto uneven = [&] {
    layout = {};
    layout.chips = static_cast<int>(n);
    layout.even = false;
    return layout;
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
  layout.local = static_cast<int>(local);
  layout.whole_chips = local == topology.ranks_per_chip;
  layout.chips = static_cast<int>(inner / local);
  std::int64_t rest = system / inner, per = per_instance;
  for (std::size_t axis = static_cast<std::size_t>(topology.inner_axes);
       axis < topology.axes.size() && rest > 1; ++axis) {
    per *= topology.axes[axis].size;
    const std::int64_t along = run(per) / (inner * (system / inner / rest));
    if (along < 1 || rest % along != 0) return uneven();
    layout.outer.push_back(static_cast<int>(along));
    rest /= along;
  }
  if (rest != 1) return uneven();
  layout.systems = n / system;
  return layout;
}

bool is_torus_of_four(const Topology& topology, const RankLayout& layout) {
  return layout.even && layout.chips == topology.inner_chips() && topology.inner_axes == 2 &&
         std::all_of(topology.axes.begin(), topology.axes.begin() + 2, [](const Axis& axis) {
           return axis.kind == AxisKind::kRing && axis.size == 4;
         });
}

Orders chip_orders(const Topology& topology, const RankLayout& layout) {
  const bool all = layout.chips == topology.inner_chips() && layout.even;
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
  if (topology.inner_axes == 2 && layout.even &&
      layout.chips % axes[0].size == 0) {  // rows, to and fro
    std::vector<int> order;
    for (int i = 0; i < layout.chips; ++i) {
      const int row = i / axes[0].size, column = i % axes[0].size;
      order.push_back(row * axes[0].size + (row % 2 != 0 ? axes[0].size - 1 - column : column));
    }
    return {order, {order.rbegin(), order.rend()}};
  }
  const bool ring = topology.inner_axes == 1 && axes[0].kind == AxisKind::kRing;
  return natural_order(layout.chips, ring || topology.inner_axes == 2);
}

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

Orders flat_orders(const Topology& topology, const RankLayout& layout) {
  const Orders within = widened(chip_orders(topology, layout), layout.local);
  const int size = static_cast<int>(within.front().size());
  const int systems = static_cast<int>(layout.systems);
  if (systems == 1) return within;
  const int channels =
      std::clamp(topology.network.cards, 1, std::max(1, topology.choices.channels_max));
  const ResourceMap map(topology);
  const auto card = [&](int member) { return map.card_of(member / layout.local); };
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
    for (int other = layout.local; other < size; other += layout.local)
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

}  // namespace trnsim::fabric
