// Ring and KangaRing. In the ring of n nodes, node p passes chunk p - 1 - k in round k when
// reducing and chunk p - k when gathering; a chunk ends, reduced, at its own node. With pairs, a
// node is the primary of two ranks of a chip and a chunk is both ranks' chunks.
#include <algorithm>

#include "fabric/algorithm.h"

namespace trnsim::fabric {
namespace {

class Ring : public Algorithm {
 public:
  Ring(Orders orders, bool pairs) : orders_(std::move(orders)), pairs_(pairs) {
    for (const std::vector<int>& order : orders_) {
      places_.emplace_back(order.size());
      for (std::size_t i = 0; i < order.size(); ++i)
        places_.back()[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    }
  }
  const char* name() const override { return pairs_ ? "kangaring" : "ring"; }
  int members() const override { return nodes() * width(); }
  int channels() const override { return static_cast<int>(orders_.size()); }
  int rounds() const override { return nodes() - 1; }
  StepKind step(int) const override { return StepKind::kRing; }
  int block() const override { return width(); }
  int receives(int member, int channel, int) const override {
    return is_primary(member, channel) ? 1 : 0;
  }

 protected:
  int nodes() const { return static_cast<int>(orders_.front().size()); }
  int width() const { return pairs_ ? 2 : 1; }
  bool is_primary(int member, int channel) const { return !pairs_ || member % 2 == channel % 2; }
  // Appends the send of the chunk that began `back` places before the member's.
  void pass(int member, int channel, int back, Send send, std::vector<Send>& out) const {
    if (!is_primary(member, channel)) return;
    const auto& order = orders_[static_cast<std::size_t>(channel)];
    const int count = nodes();
    const int place =
        places_[static_cast<std::size_t>(channel)][static_cast<std::size_t>(member / width())];
    const int chunk = order[static_cast<std::size_t>(((place - back) % count + count) % count)];
    send.to =
        order[static_cast<std::size_t>((place + 1) % count)] * width() + (pairs_ ? channel % 2 : 0);
    send.chunks = {chunk * width(), width(), members()};
    out.push_back(send);
  }

 private:
  Orders orders_;
  bool pairs_;
  std::vector<std::vector<int>> places_;
};

class RingReduceScatter final : public Ring {
 public:
  using Ring::Ring;
  void sends(int member, int channel, int round, std::vector<Send>& out) const override {
    // Reads what came and its own (and the secondary's), writes to the next.
    const auto reads = static_cast<std::int8_t>(width() + 1);
    pass(member, channel, 1 + round,
         {.reduces = true,
          .reads = reads,
          .block_first = member / width() * width(),
          .block_count = width()},
         out);
  }
};

class RingAllGather final : public Ring {
 public:
  using Ring::Ring;
  void sends(int member, int channel, int round, std::vector<Send>& out) const override {
    // With pairs one read is written twice: to the next and to the secondary.
    pass(member, channel, round, {.reads = static_cast<std::int8_t>(width())}, out);
  }
};

}  // namespace

Schedule ring_reduce_scatter(Orders orders, bool pairs) {
  return std::make_shared<RingReduceScatter>(std::move(orders), pairs);
}
Schedule ring_all_gather(Orders orders, bool pairs) {
  return std::make_shared<RingAllGather>(std::move(orders), pairs);
}

}  // namespace trnsim::fabric
