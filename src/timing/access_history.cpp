#include "timing/access_history.h"

#include <algorithm>
#include <bit>

namespace trnsim::timing {
namespace {

using memory::AccessPattern;

constexpr std::size_t kListed = 64;
constexpr int kManyStretches = 8;

bool within_partitions(const AccessPattern& outer, const AccessPattern& inner) {
  if (!outer.on_chip()) return true;
  return outer.start_partition <= inner.start_partition &&
         inner.start_partition + inner.partitions() <= outer.start_partition + outer.partitions();
}

bool share_partitions(const AccessPattern& a, const AccessPattern& b) {
  if (!a.on_chip()) return true;
  return a.start_partition < b.start_partition + b.partitions() &&
         b.start_partition < a.start_partition + a.partitions();
}

bool is_dense(const AccessPattern& pattern) {
  std::int64_t run = pattern.element_bytes();
  for (int d = pattern.dims - 1; d >= (pattern.on_chip() ? 1 : 0); --d) {
    if (pattern.sizes[d] == 1) continue;
    if (pattern.strides[d] != run) return false;
    run *= pattern.sizes[d];
  }
  return true;
}

// Both are listed in one stretch.
bool meet(const AccessHistory::Access& a, const AccessHistory::Access& b) {
  if (a.extent.low >= b.extent.high || b.extent.low >= a.extent.high) return false;
  if (a.dense && b.dense) return share_partitions(*a.pattern, *b.pattern);
  return memory::overlaps(*a.pattern, *b.pattern);
}

bool same_bytes(const AccessPattern& a, const AccessPattern& b) {
  if (a.dims != b.dims || a.element_bytes() != b.element_bytes()) return false;
  const int first = a.on_chip() ? 1 : 0;
  return std::equal(a.sizes.begin() + first, a.sizes.begin() + a.dims, b.sizes.begin() + first) &&
         std::equal(a.strides.begin() + first, a.strides.begin() + a.dims,
                    b.strides.begin() + first);
}

// Whether all that `inner` touches of one stretch is touched by `outer` too. A dense access fills
// its stretches, because they are cut at its ends.
bool fills(const AccessHistory::Access& outer, const AccessHistory::Access& inner) {
  if (outer.dense) return within_partitions(*outer.pattern, *inner.pattern);
  return outer.extent.low == inner.extent.low && outer.extent.high == inner.extent.high &&
         outer.pattern->offset == inner.pattern->offset &&
         within_partitions(*outer.pattern, *inner.pattern) &&
         same_bytes(*outer.pattern, *inner.pattern);
}

// Where a strided access cuts: at multiples of a power of two, an eighth of its extent or less, so
// that the many accesses that interleave with it cut at the same places.
memory::Extent rounded(const memory::Extent& extent) {
  const auto length = static_cast<std::uint64_t>(extent.high - extent.low);
  const auto grid =
      static_cast<std::int64_t>(std::max<std::uint64_t>(1, std::bit_floor(length) / 8));
  return {extent.low / grid * grid, (extent.high + grid - 1) / grid * grid};
}

void keep(KeptOrders* kept, std::uint32_t before, std::uint32_t after) {
  if (!kept || before == after) return;
  const std::pair pair(before, after);
  if (kept->empty() || kept->back() != pair) kept->push_back(pair);
}

void note(std::uint32_t on, Hazard hazard, std::uint32_t instruction, std::vector<Dependency>& list,
          std::size_t first) {
  if (on == instruction) return;
  for (std::size_t i = first; i < list.size(); ++i) {
    if (list[i].on != on) continue;
    list[i].hazard = std::min(list[i].hazard, hazard);  // the hazards that wait longer come first
    return;
  }
  list.push_back({on, hazard});
}

}  // namespace

void AccessHistory::Accesses::collect(const Access& access, Hazard hazard,
                                      std::vector<Dependency>& list, std::size_t first) const {
  for (const Access& earlier : listed) {
    if (meet(earlier, access)) note(earlier.instruction, hazard, access.instruction, list, first);
  }
  if (!summed_up) return;
  for (const std::uint32_t on : older) {
    if (on != kNone) note(on, hazard, access.instruction, list, first);
  }
}

void AccessHistory::Accesses::add(const Access& access, KeptOrders* kept) {
  // A queue runs in order, so its latest access to the same bytes stands for the earlier ones.
  for (Access& earlier : listed) {
    if (earlier.queue != access.queue || !fills(access, earlier)) continue;
    keep(kept, earlier.instruction, access.instruction);
    earlier = access;
    return;
  }
  if (listed.size() == kListed) {
    std::uint32_t& latest = older[static_cast<std::size_t>(listed.front().queue)];
    const std::uint32_t oldest = listed.front().instruction;
    if (latest != kNone) keep(kept, std::min(latest, oldest), std::max(latest, oldest));
    if (latest == kNone || latest < oldest) latest = oldest;
    listed.erase(listed.begin());
    summed_up = true;
  }
  listed.push_back(access);
}

void AccessHistory::Accesses::forget_overwritten(const Access& writer) {
  std::erase_if(listed, [&](const Access& earlier) { return fills(writer, earlier); });
}

AccessHistory::Stretches::iterator AccessHistory::cut(std::int64_t at) {
  const auto next = stretches_.lower_bound(at);
  if (next != stretches_.end() && next->first == at) return next;
  Stretch part = next == stretches_.begin() ? Stretch{} : std::prev(next)->second;
  return stretches_.emplace_hint(next, at, std::move(part));
}

// One stretch for those in [first, last), which agree since a dense write of all partitions.
void AccessHistory::merge(Stretches::iterator first, Stretches::iterator last) {
  const bool agree = std::all_of(first, last, [](const auto& stretch) {
    const auto& [reads, writes] = stretch.second;
    return reads.listed.empty() && writes.listed.size() == 1 && !reads.summed_up &&
           !writes.summed_up;
  });
  if (agree) stretches_.erase(std::next(first), last);
}

void AccessHistory::visit(Access access, bool writes, std::vector<Dependency>& list,
                          std::size_t first, KeptOrders* kept) {
  access.dense = is_dense(*access.pattern);
  access.extent = memory::extent_of(*access.pattern);
  const memory::Extent reach = access.dense ? access.extent : rounded(access.extent);
  const auto begin = cut(reach.low), end = cut(reach.high);
  int count = 0;
  for (auto it = begin; it != end; ++it, ++count) {
    auto& [reads, written] = it->second;
    written.collect(access, writes ? Hazard::kOverwrite : Hazard::kRead, list, first);
    if (!writes) {
      reads.add(access, kept);
      continue;
    }
    reads.collect(access, Hazard::kReuse, list, first);
    reads.forget_overwritten(access);
    written.forget_overwritten(access);
    written.add(access, kept);
  }
  if (writes && access.dense && count > kManyStretches) merge(begin, end);
}

}  // namespace trnsim::timing
