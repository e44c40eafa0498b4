#include "timing/access_history.h"

#include <algorithm>

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
  return memory::walk_of(pattern).contiguous(pattern.element_bytes());
}

// Both are known to reach into one stretch.
bool meet(const AccessHistory::Access& a, const AccessHistory::Access& b) {
  if (a.dense && b.dense) return share_partitions(*a.pattern, *b.pattern);
  return memory::overlaps(*a.pattern, *b.pattern);
}

// Whether all that `inner` touches of one stretch is touched by `outer` too. A dense access fills
// the stretches that it reaches into, because they are cut at its ends.
bool fills(const AccessHistory::Access& outer, const AccessHistory::Access& inner) {
  return outer.dense ? within_partitions(*outer.pattern, *inner.pattern)
                     : memory::covers(*outer.pattern, *inner.pattern);
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

void AccessHistory::Accesses::add(const Access& access) {
  // A queue runs in order, so its latest access to the same bytes stands for the earlier ones.
  for (Access& earlier : listed) {
    if (earlier.queue != access.queue || !fills(access, earlier)) continue;
    earlier = access;
    return;
  }
  if (listed.size() == kListed) {
    std::uint32_t& latest = older[static_cast<std::size_t>(listed.front().queue)];
    if (latest == kNone || latest < listed.front().instruction) latest = listed.front().instruction;
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
                          std::size_t first) {
  access.dense = is_dense(*access.pattern);
  const memory::Extent extent = memory::extent_of(*access.pattern);
  const auto begin = cut(extent.low), end = cut(extent.high);
  int count = 0;
  for (auto it = begin; it != end; ++it, ++count) {
    auto& [reads, written] = it->second;
    written.collect(access, writes ? Hazard::kOverwrite : Hazard::kRead, list, first);
    if (!writes) {
      reads.add(access);
      continue;
    }
    reads.collect(access, Hazard::kReuse, list, first);
    reads.forget_overwritten(access);
    written.forget_overwritten(access);
    written.add(access);
  }
  if (writes && access.dense && count > kManyStretches) merge(begin, end);
}

}  // namespace trnsim::timing
