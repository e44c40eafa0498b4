// Mesh. The ranks of a chip divide the other chips between them: rank l of chip k serves the chips
// d with d mod local = l, and what comes from chip k arrives at rank k mod local of chip d. A
// second step exchanges within the chip. With one rank per chip the second step falls away.
#include "fabric/algorithm.h"

namespace trnsim::fabric {
namespace {

class Mesh : public Algorithm {
 public:
  Mesh(int members, int local, bool small) : members_(members), local_(local), small_(small) {}
  const char* name() const override { return small_ ? "mesh" : "direct"; }
  int members() const override { return members_; }
  bool slow_port() const override { return small_; }

 protected:
  int chips() const { return members_ / local_; }
  int served(int index, int chip) const {
    int count = 0;
    for (int d = index; d < chips(); d += local_) count += d != chip;
    return count;
  }
  int members_, local_;
  bool small_;
};

class MeshReduceScatter final : public Mesh {
 public:
  using Mesh::Mesh;
  int rounds() const override { return members_ > 1 ? 1 + (local_ > 1 && chips() > 1) : 0; }
  StepKind step(int) const override { return StepKind::kDirectReducing; }
  void sends(int member, int, int round, std::vector<Send>& out) const override {
    const int chip = member / local_, index = member % local_;
    if (chips() == 1) return exchange(chip, index, out);
    if (round == 1) return;  // reads what has arrived, on its own chip
    for (int d = index; d < chips(); d += local_) {
      if (d == chip) continue;
      for (int j = 0; j < local_; ++j)
        out.push_back({.to = d * local_ + j,
                       .chunks = {d * local_ + j, 1, members_},
                       .reduces = true,
                       .reads = static_cast<std::int8_t>(local_),
                       .block_first = chip * local_,
                       .block_count = local_});
    }
  }
  int receives(int, int, int round) const override {
    if (chips() == 1) return members_ - 1;
    return round == 0 ? chips() - 1 : 0;
  }
  int block() const override { return chips() > 1 ? local_ : 1; }

 private:
  void exchange(int chip, int index, std::vector<Send>& out) const {
    for (int i = 1; i < local_; ++i) {
      const int other = chip * local_ + (index + i) % local_;
      out.push_back({.to = other, .chunks = {other, 1, members_}, .reduces = true});
    }
  }
};

class MeshAllGather final : public Mesh {
 public:
  using Mesh::Mesh;
  int rounds() const override { return members_ > 1 ? 1 + (local_ > 1 && chips() > 1) : 0; }
  StepKind step(int) const override { return StepKind::kDirect; }
  void sends(int member, int, int round, std::vector<Send>& out) const override {
    const int chip = member / local_, index = member % local_;
    const bool within = chips() == 1 || round == 1;
    if (!within) {
      for (int d = index; d < chips(); d += local_)
        if (d != chip)
          out.push_back(
              {.to = d * local_ + chip % local_, .chunks = {chip * local_, local_, members_}});
      return;
    }
    for (int i = 1; i < local_; ++i) {
      const int other = chip * local_ + (index + i) % local_;
      out.push_back({.to = other, .chunks = {member, 1, members_}});
      for (int k = index; chips() > 1 && k < chips(); k += local_)
        if (k != chip) out.push_back({.to = other, .chunks = {k * local_, local_, members_}});
    }
  }
  int receives(int member, int, int round) const override {
    const int chip = member / local_, index = member % local_;
    if (chips() == 1) return members_ - 1;
    if (round == 0) return served(index, chip);
    int count = 0;
    for (int other = 0; other < local_; ++other)
      if (other != index) count += 1 + served(other, chip);
    return count;
  }
};

// Everybody sends everything to everybody and reduces alone.
class SingleStepMesh final : public Mesh {
 public:
  explicit SingleStepMesh(int members) : Mesh(members, 1, true) {}
  const char* name() const override { return "single_step_mesh"; }
  int rounds() const override { return members_ > 1 ? 1 : 0; }
  StepKind step(int) const override { return StepKind::kDirectReducing; }
  void sends(int member, int, int, std::vector<Send>& out) const override {
    for (int i = 1; i < members_; ++i)
      out.push_back({.to = (member + i) % members_, .chunks = {0, 1, 1}, .reduces = true});
  }
  int receives(int, int, int) const override { return members_ - 1; }
};

}  // namespace

Schedule mesh_reduce_scatter(int members, int local, bool small) {
  return std::make_shared<MeshReduceScatter>(members, local, small);
}
Schedule mesh_all_gather(int members, int local, bool small) {
  return std::make_shared<MeshAllGather>(members, local, small);
}
Schedule single_step_mesh(int members) { return std::make_shared<SingleStepMesh>(members); }

}  // namespace trnsim::fabric
