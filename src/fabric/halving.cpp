// Recursive halving (reduce_scatter) and doubling (all_gather) among 2^p chips, with one exchange
// among the ranks of a chip. Ranks of a chip take the axes in different orders, so that each link
// of the cube carries one rank's data at a time.
#include "fabric/algorithm.h"

namespace trnsim::fabric {
namespace {

class Cube : public Algorithm {
 public:
  Cube(int members, int local, bool torus) : members_(members), local_(local), torus_(torus) {
    while ((1 << bits_) * local_ < members_) ++bits_;
  }
  const char* name() const override { return "rdh"; }
  int members() const override { return members_; }
  int rounds() const override { return bits_ + (local_ > 1 ? 1 : 0); }
  bool reduces_late() const override { return false; }
  int owned(int member) const override {
    return held(member / local_, member % local_, bits_).first;
  }

 protected:
  bool is_local(int round) const { return local_ > 1 && round == local_round(); }
  virtual int local_round() const = 0;
  int chips() const { return members_ / local_; }
  // On a ring of four the places 0, 1, 3, 2 are the corners 00, 01, 10, 11 of a square; its own
  // inverse.
  int corner(int chip) const { return torus_ ? chip ^ ((chip >> 1) & 0x55555555) : chip; }
  int across(int chip, int bit) const { return corner(corner(chip) ^ (1 << bit)); }
  // The bit that a rank flips in the s-th exchange; all ranks of one index in the chip agree.
  int bit(int index, int s) const { return (s + index) % bits_; }
  // The chunks among chips() that a rank still has after `done` of its halvings. Chunks are named
  // so that they stay contiguous: bit(index, 0) is the highest bit of the name.
  int name_of(int chip, int index) const {
    int name = 0;
    for (int s = 0; s < bits_; ++s)
      name |= ((corner(chip) >> bit(index, s)) & 1) << (bits_ - 1 - s);
    return name;
  }
  // `index` owns the part index of local_; in it stand chips() chunks.
  Chunks held(int chip, int index, int done) const {
    const int size = chips() >> done;
    const int first = name_of(chip, index) / size * size;
    return {index * chips() + first, size, members_};
  }
  int receives(int, int, int round) const override { return is_local(round) ? local_ - 1 : 1; }

  int members_, local_;
  bool torus_;
  int bits_ = 0;
};

class HalvingReduceScatter final : public Cube {
 public:
  using Cube::Cube;
  StepKind step(int) const override { return StepKind::kDirectReducing; }
  int local_round() const override { return 0; }
  void sends(int member, int, int round, std::vector<Send>& out) const override {
    const int chip = member / local_, index = member % local_;
    if (is_local(round)) {
      for (int i = 1; i < local_; ++i) {
        const int other = (index + i) % local_;
        out.push_back({.to = chip * local_ + other,
                       .chunks = held(chip, other, 0),
                       .reduces = true,
                       .reads = 1,
                       .writes = 1});
      }
      return;
    }
    const int done = round - (local_ > 1 ? 1 : 0);
    const int peer = across(chip, bit(index, done));
    out.push_back({.to = peer * local_ + index,
                   .chunks = held(peer, index, done + 1),
                   .reduces = true,
                   .reads = 2,
                   .writes = 1});
  }
};

class DoublingAllGather final : public Cube {
 public:
  using Cube::Cube;
  StepKind step(int) const override { return StepKind::kDirect; }
  int local_round() const override { return bits_; }
  void sends(int member, int, int round, std::vector<Send>& out) const override {
    const int chip = member / local_, index = member % local_;
    if (is_local(round)) {
      for (int i = 1; i < local_; ++i)
        out.push_back({.to = chip * local_ + (index + i) % local_, .chunks = held(chip, index, 0)});
      return;
    }
    const int left = bits_ - round;
    const int peer = across(chip, bit(index, left - 1));
    out.push_back({.to = peer * local_ + index, .chunks = held(chip, index, left)});
  }
};

}  // namespace

Schedule halving_reduce_scatter(int members, int local, bool torus) {
  return std::make_shared<HalvingReduceScatter>(members, local, torus);
}
Schedule doubling_all_gather(int members, int local, bool torus) {
  return std::make_shared<DoublingAllGather>(members, local, torus);
}

}  // namespace trnsim::fabric
