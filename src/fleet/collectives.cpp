#include "fleet/collectives.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "fabric/engine.h"

namespace trnsim::fleet {
namespace {

using fabric::Collective;

double d(std::int64_t value) { return static_cast<double>(value); }

Collective collective_of(Transfer transfer) {
  switch (transfer) {
    case Transfer::kAllReduce:
      return Collective::kAllReduce;
    case Transfer::kAllGather:
      return Collective::kAllGather;
    case Transfer::kReduceScatter:
      return Collective::kReduceScatter;
    case Transfer::kAllToAll:
      return Collective::kAllToAll;
    case Transfer::kSend:
      break;
  }
  return Collective::kPermute;
}

// Chunks that are all equally large let the clock fold systems into one.
void round_up(fabric::Plan* plan) {
  std::int64_t pieces = 1, channels = 1;
  for (const fabric::Level& level : plan->levels) {
    pieces *= level.schedule->members();
    channels = std::lcm(channels, std::int64_t{level.schedule->channels()});
  }
  if (plan->levels.empty())
    for (const fabric::Stage& stage : plan->stages) pieces *= stage.schedule->members();
  const std::int64_t unit = pieces * channels;
  std::int64_t& elements = plan->request.elements;
  elements = (elements + unit - 1) / unit * unit;
}

// The first rounds of a schedule whose rounds are alike.
class FirstRounds final : public fabric::Algorithm {
 public:
  FirstRounds(fabric::Schedule whole, int rounds) : whole_(std::move(whole)), rounds_(rounds) {}
  const char* name() const override { return whole_->name(); }
  int members() const override { return whole_->members(); }
  int channels() const override { return whole_->channels(); }
  int rounds() const override { return rounds_; }
  fabric::StepKind step(int round) const override { return whole_->step(round); }
  void sends(int member, int channel, int round, std::vector<fabric::Send>& out) const override {
    whole_->sends(member, channel, round, out);
  }
  int receives(int member, int channel, int round) const override {
    return whole_->receives(member, channel, round);
  }
  bool reduces_late() const override { return whole_->reduces_late(); }
  int owned(int member) const override { return whole_->owned(member); }
  int block() const override { return whole_->block(); }
  bool is_uniform() const override { return whole_->is_uniform(); }
  bool slow_port() const override { return whole_->slow_port(); }

 private:
  fabric::Schedule whole_;
  int rounds_;
};

double seconds_of(const fabric::Topology& topology, const fabric::Plan& plan) {
  return d(fabric::clock(topology, plan).time.count) * 1e-12;
}

// Seconds where no ring has more than so many rounds; `left` counts those that were left out.
double seconds_of_first(const fabric::Topology& topology, fabric::Plan plan, int rounds,
                        int* left) {
  *left = 0;
  for (fabric::Stage& stage : plan.stages) {
    if (stage.schedule->rounds() <= Collectives::kClockedRounds) continue;
    *left = stage.schedule->rounds() - rounds;
    stage.schedule = std::make_shared<FirstRounds>(stage.schedule, rounds);
  }
  return seconds_of(topology, plan);
}

}  // namespace

Collectives::Collectives(fabric::Topology topology, std::int64_t ranks)
    : topology_(std::move(topology)), ranks_(ranks) {}

Collectives::Shape Collectives::shape_of(Collective collective, const Group& group) const {
  const std::int64_t per_system = topology_.ranks_per_system();
  const std::int64_t here = std::min(per_system, ranks_);
  const std::int64_t span = group.size * group.stride;
  if (span <= per_system) {
    const std::int64_t groups = std::max<std::int64_t>(1, here / span) * group.stride;
    return {collective, group.size, group.stride, 1, groups};
  }
  // Whole systems: what the last of them lacks counts as if it were there.
  const std::int64_t local = std::max<std::int64_t>(1, per_system / group.stride);
  const std::int64_t stride = local == 1 ? per_system : group.stride;
  return {collective, local, stride, (group.size + local - 1) / local, std::min(stride, here)};
}

// All groups of a shape at once.
double Collectives::clocked(const Shape& shape, std::int64_t bytes) const {
  fabric::Topology topology = topology_;
  topology.systems = shape.systems;
  const std::int64_t per_system = topology.ranks_per_system();
  fabric::Request request;
  request.collective = shape.collective;
  request.size = shape.local * shape.systems;
  request.groups = shape.groups;
  request.elements = bytes;
  if (shape.groups > 1 || shape.local < per_system) {
    for (std::int64_t g = 0; g < shape.groups; ++g)
      for (std::int64_t i = 0; i < request.size; ++i)
        request.ranks.push_back(g / shape.stride * shape.stride * shape.local + g % shape.stride +
                                i % shape.local * shape.stride + i / shape.local * per_system);
  }
  fabric::Plan plan = fabric::make_plan(topology, std::move(request));
  round_up(&plan);
  int left = 0, more = 0;
  const double all = seconds_of_first(topology, plan, kClockedRounds, &left);
  if (left == 0) return all;
  const double some = seconds_of_first(topology, plan, kClockedRounds / 3, &more);
  return all + (all - some) / (more - left) * left;
}

double Collectives::point(const Shape& shape, int power) {
  auto [it, first] = known_.try_emplace(shape);
  if (first) it->second.fill(-1);
  double& seconds = it->second[static_cast<std::size_t>(power)];
  if (seconds < 0) seconds = clocked(shape, std::int64_t{1} << power);
  return seconds;
}

double Collectives::time(const Shape& shape, double bytes) {
  constexpr int kLeast = 10, kMost = 44;  // a kilobyte, sixteen terabytes
  const int power = std::clamp(static_cast<int>(std::ilogb(bytes)), kLeast, kMost);
  const double low = point(shape, power), from = std::ldexp(1.0, power);
  if (bytes <= from) return low;
  return low + (point(shape, power + 1) - low) * (bytes / from - 1);
}

double Collectives::time(Transfer transfer, double bytes, const Group& group) {
  if (transfer == Transfer::kSend) return send(bytes, group.stride);
  if (group.size <= 1 || bytes <= 0) return 0;
  return time(shape_of(collective_of(transfer), group), bytes);
}

double Collectives::send(double bytes, std::int64_t stride) {
  if (bytes <= 0) return 0;
  return time(shape_of(Collective::kPermute, {2, stride}), bytes);
}

}  // namespace trnsim::fleet
