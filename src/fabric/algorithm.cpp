#include "fabric/algorithm.h"

#include <numeric>
#include <string>

#include "base/error.h"

namespace trnsim::fabric {

Range part(Range whole, Chunks chunks) {
  const auto at = [&](std::int64_t chunk) {
    // size * chunk may pass 64 bits for large buffers of many ranks
    const auto product = static_cast<__int128>(whole.size()) * chunk;
    return whole.begin + static_cast<std::int64_t>(product / chunks.of);
  };
  return {at(chunks.first), at(chunks.first + chunks.count)};
}

namespace {

class AllToAll final : public Algorithm {
 public:
  explicit AllToAll(int members) : members_(members) {}
  const char* name() const override { return "direct"; }
  bool slow_port() const override { return true; }
  int members() const override { return members_; }
  int rounds() const override { return members_ > 1 ? 1 : 0; }
  StepKind step(int) const override { return StepKind::kDirect; }
  void sends(int member, int, int, std::vector<Send>& out) const override {
    for (int i = 1; i < members_; ++i) {
      const int to = (member + i) % members_;
      out.push_back({.to = to, .chunks = {to, 1, members_}});
    }
  }
  int receives(int, int, int) const override { return members_ - 1; }

 private:
  int members_;
};

class Broadcast final : public Algorithm {
 public:
  Broadcast(int members, int root) : members_(members), root_(root) {
    while ((1 << rounds_) < members_) ++rounds_;
  }
  const char* name() const override { return "tree"; }
  int members() const override { return members_; }
  int rounds() const override { return rounds_; }
  bool is_uniform() const override { return false; }
  StepKind step(int) const override { return StepKind::kDirect; }
  void sends(int member, int, int round, std::vector<Send>& out) const override {
    const int relative = (member - root_ + members_) % members_;
    const int to = relative + (1 << round);
    if (relative < (1 << round) && to < members_)
      out.push_back({.to = (to + root_) % members_, .chunks = {0, 1, 1}});
  }
  int receives(int member, int, int round) const override {
    const int relative = (member - root_ + members_) % members_;
    return relative >= (1 << round) && relative < (2 << round) ? 1 : 0;
  }

 private:
  int members_, root_, rounds_ = 0;
};

class ListedRounds final : public Algorithm {
 public:
  ListedRounds(std::string name, int members, std::vector<std::vector<Listed>> rounds)
      : name_(std::move(name)), members_(members), rounds_(std::move(rounds)) {
    for (std::size_t round = 0; round < rounds_.size(); ++round) {
      for (const Listed& listed : rounds_[round]) {
        const Send& send = listed.send;
        if (listed.from < 0 || send.to < 0 || listed.from >= members || send.to >= members ||
            listed.from == send.to)
          config_error("{}: round {} sends from {} to {}; both are ranks below {}, not the same",
                       name_, round, listed.from, send.to, members);
        if (send.chunks.first < 0 || send.chunks.count < 1 ||
            send.chunks.first + send.chunks.count > send.chunks.of)
          config_error("{}: round {} sends chunks {} to {} of {}", name_, round, send.chunks.first,
                       send.chunks.first + send.chunks.count - 1, send.chunks.of);
        reduces_ = reduces_ || send.reduces;
      }
    }
  }
  const char* name() const override { return name_.c_str(); }
  int members() const override { return members_; }
  int rounds() const override { return static_cast<int>(rounds_.size()); }
  StepKind step(int) const override {
    return reduces_ ? StepKind::kDirectReducing : StepKind::kDirect;
  }
  bool reduces_late() const override { return false; }
  bool is_uniform() const override { return false; }
  void sends(int member, int, int round, std::vector<Send>& out) const override {
    for (const Listed& listed : rounds_[static_cast<std::size_t>(round)])
      if (listed.from == member) out.push_back(listed.send);
  }
  int receives(int member, int, int round) const override {
    int count = 0;
    for (const Listed& listed : rounds_[static_cast<std::size_t>(round)])
      count += listed.send.to == member;
    return count;
  }

 private:
  std::string name_;
  int members_;
  std::vector<std::vector<Listed>> rounds_;
  bool reduces_ = false;
};

}  // namespace

Orders natural_order(int members, bool both_ways) {
  std::vector<int> order(static_cast<std::size_t>(members));
  std::iota(order.begin(), order.end(), 0);
  if (!both_ways) return {order};
  return {order, {order.rbegin(), order.rend()}};
}

Schedule direct_all_to_all(int members) { return std::make_shared<AllToAll>(members); }
Schedule binomial_broadcast(int members, int root) {
  return std::make_shared<Broadcast>(members, root);
}
Schedule permutation(int members, std::vector<std::pair<int, int>> pairs) {
  std::vector<Listed> round;
  for (const auto& [from, to] : pairs)
    if (from != to) round.push_back({from, {.to = to, .chunks = {0, 1, 1}}});
  return listed("permute", members, {std::move(round)});
}
Schedule listed(std::string name, int members, std::vector<std::vector<Listed>> rounds) {
  return std::make_shared<ListedRounds>(std::move(name), members, std::move(rounds));
}

}  // namespace trnsim::fabric
