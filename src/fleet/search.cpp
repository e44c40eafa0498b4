#include "fleet/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"

namespace trnsim::fleet {
namespace {

constexpr std::int64_t kTokensPerStep = std::int64_t{1} << 22;  // where no batch is given
// Beyond this many tokens larger batches hardly speed learning up (Dubey et al., arXiv 2407.21783,
// end at 16 M); larger ones are tried only where nothing else is legal.
constexpr std::int64_t kTokensMost = 16 * kTokensPerStep;
constexpr std::int64_t kLongSequence = 16384;  // from here on context parallelism is tried

std::int64_t default_sequence(const Model& model) {
  return std::min<std::int64_t>(model.sequence > 0 ? model.sequence : 2048, 8192);
}

std::vector<std::int64_t> divisors(std::int64_t whole, std::int64_t most) {
  std::vector<std::int64_t> found;
  for (std::int64_t i = 1; i <= std::min(whole, most); ++i)
    if (whole % i == 0) found.push_back(i);
  return found;
}

std::vector<std::int64_t> choices(const std::optional<std::int64_t>& given,
                                  std::vector<std::int64_t> otherwise) {
  return given ? std::vector{*given} : std::move(otherwise);
}

std::int64_t heads_and_columns(const Model& model) {
  std::int64_t common = 0;
  for (const Layer& layer : model.layers)
    common = std::gcd(common, std::gcd(layer.attention.heads, layer.feed_forward.width));
  return common;
}

std::int64_t experts_of(const Model& model) {
  std::int64_t common = 0;
  for (const Layer& layer : model.layers)
    if (layer.feed_forward.sparse()) common = std::gcd(common, layer.feed_forward.experts);
  return common;
}

// A batch of about kTokensPerStep that this layout divides, at least one micro-batch per stage.
std::int64_t batch_for(const Layout& layout) {
  const std::int64_t unit =
      layout.dp * layout.micro_batch * (layout.schedule == Schedule::kInterleaved ? layout.pp : 1);
  const std::int64_t wanted = kTokensPerStep / layout.sequence;
  return std::max<std::int64_t>(1, (wanted + unit - 1) / unit) * unit;
}

bool legal(const Layout& layout, const Model& model) {
  try {
    check_layout(layout, model);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Cheap refusals, so that exceptions are for the few.
bool plainly_wrong(const Layout& layout, const Model& model) {
  if (layout.global_batch % (layout.dp * layout.micro_batch) != 0) return true;
  if (layout.schedule == Schedule::kInterleaved &&
      (model.depth() % (layout.pp * layout.chunks) != 0 || layout.micro_batches() % layout.pp != 0))
    return true;
  return layout.sequence % (layout.cp * (layout.sp ? layout.tp : 1)) != 0;
}

// What is open once the ranks are shared out.
void within(const Request& request, const Model& model, bool sparse,
            const std::vector<Recompute>& recomputes, Layout l, bool any_batch,
            const std::function<void(const Layout&)>& fn) {
  const std::vector<std::int64_t> eps =
      sparse ? divisors(std::gcd(experts_of(model), l.dp * l.cp), 256)
             : std::vector<std::int64_t>{1};
  for (const std::int64_t ep : choices(request.ep, eps)) {
    for (const std::int64_t micro_batch : choices(request.micro_batch, {1, 2, 4, 8})) {
      for (const std::int64_t chunks : choices(request.chunks, {1, 2, 3, 4, 6, 8})) {
        l.ep = ep;
        l.micro_batch = micro_batch;
        l.chunks = chunks;
        l.schedule = chunks > 1 ? Schedule::kInterleaved : Schedule::k1f1b;
        if (request.schedule) {
          if ((*request.schedule == Schedule::kInterleaved) != (chunks > 1)) continue;
          l.schedule = *request.schedule;
        }
        if (micro_batch < 1 || chunks < 1 || (chunks > 1 && l.pp == 1)) continue;
        l.global_batch = request.global_batch.value_or(batch_for(l));
        if (!request.global_batch && !any_batch && l.global_batch * l.sequence > kTokensMost)
          continue;
        if (plainly_wrong(l, model) || !legal(l, model)) continue;
        for (const Recompute recompute : recomputes) {
          l.recompute = recompute;
          for (const std::int64_t zero : choices(request.zero, {0, 1, 3})) {
            if (zero > 1 && l.pp > 1 && !request.zero) continue;  // gathered for each micro-batch
            l.zero = static_cast<int>(zero);
            fn(l);
          }
        }
      }
    }
  }
}

Layout base_layout(const Request& request, const Model& model) {
  Layout base;
  base.precision = request.precision;
  base.states = request.states;
  base.attention = request.attention.value_or(AttentionKernel::kFlash);
  base.sequence = request.sequence.value_or(default_sequence(model));
  return base;
}

// What makes the layout slower than the best, or too large.
std::string reason(const Candidate& candidate, const Candidate& best, Evaluator& evaluator) {
  const double capacity = evaluator.machine().device->memory_bytes();
  if (!candidate.fits)
    return fmt::format("does not fit: {:.1f} GiB of {:.1f}", candidate.memory / (1 << 30),
                       capacity / (1 << 30));
  const Step step = evaluator.step(candidate.layout);
  const Step first = evaluator.step(best.layout);
  struct Share {
    std::string what;
    double more;
  };
  const double scale = candidate.layout.tokens_per_step() / best.layout.tokens_per_step();
  std::vector<Share> shares{{"bubble", step.bubble - scale * first.bubble},
                            {"recomputing", step.recompute - scale * first.recompute},
                            {"optimiser", step.optimizer - scale * first.optimizer}};
  double compute = 0;
  for (std::size_t i = 0; i < step.compute.size(); ++i)
    compute += step.compute[i] - scale * first.compute[i];
  shares.push_back({"operators", compute});
  for (std::size_t i = 0; i < step.exposed.size(); ++i)
    shares.push_back({std::string(name(static_cast<Axis>(i))) + "-parallel transfers",
                      step.exposed[i] - scale * first.exposed[i]});
  const auto most = std::max_element(
      shares.begin(), shares.end(), [](const Share& a, const Share& b) { return a.more < b.more; });
  return fmt::format("{:.2f} times as long per token, most of it in {}",
                     best.tokens_per_second / candidate.tokens_per_second, most->what);
}

}  // namespace

void for_each_layout(const Request& request, const Model& model, const Machine& machine,
                     bool any_batch, const std::function<void(const Layout&)>& fn) {
  const std::int64_t ranks = machine.ranks();
  Layout l = base_layout(request, model);
  const std::int64_t in_system = machine.accelerators_per_system * machine.ranks_per_accelerator;
  const bool sparse = experts_of(model) > 0;
  const std::vector<std::int64_t> cps = l.sequence >= kLongSequence
                                            ? std::vector<std::int64_t>{1, 2, 4, 8, 16}
                                            : std::vector<std::int64_t>{1};
  std::vector<Recompute> recomputes{Recompute::kNone, Recompute::kSelective, Recompute::kFull};
  if (l.attention == AttentionKernel::kFlash) recomputes = {Recompute::kNone, Recompute::kFull};
  if (request.recompute) recomputes = {*request.recompute};
  const std::int64_t widest = std::min<std::int64_t>({in_system, 64, ranks});
  for (const std::int64_t tp : choices(request.tp, divisors(heads_and_columns(model), widest))) {
    for (const std::int64_t cp : choices(request.cp, cps)) {
      if (tp < 1 || cp < 1 || ranks % (tp * cp) != 0) continue;
      const std::int64_t rest = ranks / (tp * cp);
      const std::int64_t deepest = model.encoder.empty() ? model.depth() : 1;
      for (const std::int64_t pp : choices(request.pp, divisors(rest, deepest))) {
        if (pp < 1 || rest % pp != 0) continue;
        if (request.dp && rest / pp != *request.dp) continue;
        l.tp = tp;
        l.cp = cp;
        l.pp = pp;
        l.dp = rest / pp;
        l.sp = request.sp.value_or(tp > 1);
        within(request, model, sparse, recomputes, l, any_batch, fn);
      }
    }
  }
}

std::optional<Layout> given_layout(const Request& request, const Model& model,
                                   const Machine& machine) {
  if (!request.tp && !request.pp && !request.dp) return {};
  Layout l = base_layout(request, model);
  l.tp = request.tp.value_or(1);
  l.pp = request.pp.value_or(1);
  l.cp = request.cp.value_or(1);
  l.ep = request.ep.value_or(1);
  check_split(l, model);
  const std::int64_t ranks = machine.ranks(), inside = l.tp * l.pp * l.cp;
  l.dp = request.dp.value_or(std::max<std::int64_t>(1, ranks / inside));
  if (inside * l.dp != ranks) {
    const std::int64_t dp = std::max<std::int64_t>(1, ranks / inside);
    if (inside > ranks)
      config_error("tp {} x pp {} x cp {} need {} ranks, but {} has {}; nearest: --pp {} or {} {}",
                   l.tp, l.pp, l.cp, inside, machine.name, ranks,
                   std::max<std::int64_t>(1, ranks / (l.tp * l.cp)),
                   (inside + machine.ranks_per_accelerator - 1) / machine.ranks_per_accelerator,
                   machine.title);
    config_error("tp {} x pp {} x cp {} x dp {} are {} ranks, but {} has {}; nearest: --dp {}{}",
                 l.tp, l.pp, l.cp, l.dp, inside * l.dp, machine.name, ranks, dp,
                 ranks % inside == 0 ? "" : fmt::format(" on {} ranks", dp * inside));
  }
  l.sp = request.sp.value_or(false);
  l.zero = static_cast<int>(request.zero.value_or(1));
  l.micro_batch = request.micro_batch.value_or(1);
  l.recompute = request.recompute.value_or(Recompute::kNone);
  l.chunks = request.chunks.value_or(1);
  l.schedule = request.schedule.value_or(l.chunks > 1 ? Schedule::kInterleaved : Schedule::k1f1b);
  if (l.schedule == Schedule::kInterleaved && !request.chunks) l.chunks = 2;
  if (l.micro_batch > 0 && l.sequence > 0)
    l.global_batch = request.global_batch.value_or(batch_for(l));
  check_layout(l, model);
  return l;
}

Search search(const Request& request, Evaluator& evaluator,
              const std::function<void(std::int64_t)>& progress) {
  Search result;
  const double capacity = evaluator.machine().device->memory_bytes();
  std::map<std::pair<std::string_view, std::int64_t>, Candidate> by_choice;
  const auto better = [](const Candidate& a, const Candidate& b) {
    if (a.fits != b.fits) return a.fits;
    return a.fits ? a.tokens_per_second > b.tokens_per_second : a.memory < b.memory;
  };
  const auto judge = [&](const Layout& layout) {
    const Step step = evaluator.step(layout);
    const Candidate candidate{layout, step.seconds, layout.tokens_per_step() / step.seconds,
                              step.memory.total(), step.memory.total() <= capacity};
    ++result.tried;
    result.fitting += candidate.fits ? 1 : 0;
    if (result.tried == 1 || candidate.memory < result.smallest.memory) result.smallest = candidate;
    for (const auto& [name, value] : {std::pair<std::string_view, std::int64_t>{"tp", layout.tp},
                                      {"pp", layout.pp},
                                      {"ep", layout.ep},
                                      {"micro-batch", layout.micro_batch},
                                      {"zero", layout.zero}}) {
      const auto [it, first] = by_choice.try_emplace({name, value}, candidate);
      if (!first && better(candidate, it->second)) it->second = candidate;
    }
    if (candidate.fits) {
      const auto at = std::upper_bound(result.best.begin(), result.best.end(), candidate, better);
      result.best.insert(at, candidate);
      if (result.best.size() > 10) result.best.pop_back();
    }
    if (progress && result.tried % 4096 == 0) progress(result.tried);
  };
  for (const bool any_batch : {false, true})
    if (result.tried == 0)
      for_each_layout(request, evaluator.model(), evaluator.machine(), any_batch, judge);
  if (result.tried == 0) {
    given_layout(request, evaluator.model(), evaluator.machine());  // says what is wrong, if given
    config_error(
        "no layout of {} is legal on the {} ranks of {} with what is given; leave out some "
        "of --tp, --pp, --dp, --global-batch",
        evaluator.model().name, evaluator.machine().ranks(), evaluator.machine().name);
  }
  const Candidate& best = result.best.empty() ? result.smallest : result.best.front();
  for (const auto& [choice, candidate] : by_choice) {
    const auto& [name, value] = choice;
    const Layout& b = best.layout;
    if ((name == "tp" && value == b.tp) || (name == "pp" && value == b.pp) ||
        (name == "ep" && value == b.ep) || (name == "zero" && value == b.zero) ||
        (name == "micro-batch" && value == b.micro_batch))
      continue;
    result.losers.push_back(
        {fmt::format("{} {}", name, value), reason(candidate, best, evaluator)});
  }
  return result;
}

}  // namespace trnsim::fleet
