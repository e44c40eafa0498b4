#include "fabric/sharing.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace trnsim::fabric {
namespace {

constexpr std::int64_t kPerSecond = 1'000'000'000'000;

}  // namespace

int FairShares::add_resource(std::int64_t capacity) {
  resources_.push_back({});
  resources_.back().capacity = capacity;
  return static_cast<int>(resources_.size()) - 1;
}

int FairShares::start(std::int64_t bytes, const std::vector<Use>& uses) {
  int number = 0;
  if (free_.empty()) {
    number = static_cast<int>(transfers_.size());
    transfers_.emplace_back();
  } else {
    number = free_.back();
    free_.pop_back();
  }
  Transfer& transfer = transfers_[static_cast<std::size_t>(number)];
  transfer.left = uses.empty() ? 0 : static_cast<__int128>(bytes) * kPerSecond;
  transfer.rate = 0;
  transfer.order = started_++;
  transfer.uses = uses;
  transfer.runs = true;
  running_.push_back(number);
  stale_ = true;
  return number;
}

void FairShares::advance(std::int64_t now, std::vector<int>* ended) {
  if (stale_ && now > now_) share();
  const std::int64_t passed = now - now_;
  now_ = now;
  std::size_t kept = 0;
  const std::size_t first = ended->size();
  for (const int number : running_) {
    Transfer& transfer = transfers_[static_cast<std::size_t>(number)];
    transfer.left -= static_cast<__int128>(transfer.rate) * passed;
    if (transfer.left > 0) {
      running_[kept++] = number;
      continue;
    }
    transfer.runs = false;
    free_.push_back(number);
    ended->push_back(number);
    stale_ = true;
  }
  running_.resize(kept);
  std::sort(ended->begin() + static_cast<std::ptrdiff_t>(first), ended->end(), [&](int a, int b) {
    return transfers_[static_cast<std::size_t>(a)].order <
           transfers_[static_cast<std::size_t>(b)].order;
  });
}

std::int64_t FairShares::next_end() {
  if (running_.empty()) return -1;
  if (stale_) share();
  std::int64_t soonest = std::numeric_limits<std::int64_t>::max();
  for (const int number : running_) {
    const Transfer& transfer = transfers_[static_cast<std::size_t>(number)];
    if (transfer.left <= 0) return now_;
    const __int128 takes = (transfer.left + transfer.rate - 1) / transfer.rate;
    soonest = std::min(soonest, now_ + static_cast<std::int64_t>(takes));
  }
  return soonest;
}

void FairShares::share() {
  stale_ = false;
  std::vector<int> used;
  for (const int number : running_) {
    Transfer& transfer = transfers_[static_cast<std::size_t>(number)];
    transfer.rate = 0;
    for (const Use& use : transfer.uses) {
      Resource& resource = resources_[static_cast<std::size_t>(use.resource)];
      if (!resource.seen) {
        resource.seen = true;
        resource.left = resource.capacity;
        resource.weight = 0;
        resource.members.clear();
        used.push_back(use.resource);
      }
      resource.weight += use.weight;
      resource.members.push_back(number);
    }
  }
  // Shares only grow while transfers freeze, so an entry that has grown goes back into the queue.
  using Entry = std::pair<std::int64_t, int>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto level = [&](int resource) {
    const Resource& r = resources_[static_cast<std::size_t>(resource)];
    return r.weight == 0 ? std::numeric_limits<std::int64_t>::max()
                         : std::max<std::int64_t>(1, r.left / r.weight);
  };
  for (const int resource : used) {
    resources_[static_cast<std::size_t>(resource)].seen = false;
    queue.emplace(level(resource), resource);
  }
  std::vector<int> full;
  while (!queue.empty()) {
    const auto [rate, resource] = queue.top();
    queue.pop();
    const std::int64_t present = level(resource);
    if (present == std::numeric_limits<std::int64_t>::max()) continue;
    if (present > rate) {
      queue.emplace(present, resource);
      continue;
    }
    full.assign(1, resource);
    while (!queue.empty() && queue.top().first == rate) {  // full at the same rate: frozen together
      const int other = queue.top().second;
      queue.pop();
      const std::int64_t level_of_other = level(other);
      if (level_of_other == rate)
        full.push_back(other);
      else if (level_of_other != std::numeric_limits<std::int64_t>::max())
        queue.emplace(level_of_other, other);
    }
    for (const int filled : full) {
      for (const int member : resources_[static_cast<std::size_t>(filled)].members) {
        Transfer& transfer = transfers_[static_cast<std::size_t>(member)];
        if (transfer.rate != 0) continue;
        transfer.rate = rate;
        for (const Use& use : transfer.uses) {
          Resource& r = resources_[static_cast<std::size_t>(use.resource)];
          r.left -= rate * use.weight;
          r.weight -= use.weight;
        }
      }
    }
  }
}

}  // namespace trnsim::fabric
