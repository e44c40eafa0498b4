#include "fleet/layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace trnsim::fleet {
namespace {

// The divisor of `whole` that is nearest to `wanted`, the smaller of two.
std::int64_t nearest_divisor(std::int64_t whole, std::int64_t wanted) {
  for (std::int64_t away = 0; away <= whole; ++away) {
    if (wanted - away >= 1 && whole % (wanted - away) == 0) return wanted - away;
    if (wanted + away <= whole && whole % (wanted + away) == 0) return wanted + away;
  }
  return 1;
}

void check_positive(std::int64_t value, std::string_view what) {
  if (value < 1) config_error("--{} is {}; it must be 1 or more", what, value);
}

void check_divides(std::int64_t parts, std::int64_t whole, std::string_view option,
                   std::string_view of) {
  if (whole % parts != 0) {
    config_error("--{} {} does not divide {} {}; nearest: --{} {}", option, parts, whole, of,
                 option, nearest_divisor(whole, parts));
  }
}

void check_tensor(const Layout& layout, const Model& model) {
  const std::vector<Layer>* stacks[] = {&model.layers, &model.encoder};
  for (const std::vector<Layer>* stack : stacks) {
    for (const Layer& layer : *stack) {
      check_divides(layout.tp, layer.attention.heads, "tp", "attention heads");
      check_divides(layout.tp, layer.feed_forward.width, "tp", "columns of the feed-forward part");
      if (layer.feed_forward.sparse())
        check_divides(layout.ep, layer.feed_forward.experts, "ep", "experts");
    }
  }
}

void check_experts(const Layout& layout, const Model& model) {
  const bool sparse = std::any_of(model.layers.begin(), model.layers.end(),
                                  [](const Layer& l) { return l.feed_forward.sparse(); });
  if (layout.ep > 1 && !sparse)
    config_error("--ep {}, but {} has no experts; nearest: --ep 1", layout.ep, model.name);
  check_divides(layout.ep, layout.dp * layout.cp, "ep", "data and context parallel ranks");
}

void check_stages(const Layout& layout, const Model& model) {
  if (!model.encoder.empty() && layout.pp > 1)
    unsupported(
        "--pp {} for {}, because a decoder that reads an encoder on other stages is not "
        "modelled; nearest: --pp 1",
        layout.pp, model.name);
  if (layout.schedule == Schedule::kInterleaved) {
    if (layout.chunks < 2)
      config_error("--schedule interleaved needs --chunks 2 or more; --chunks 1 is 1f1b");
    check_divides(layout.pp * layout.chunks, model.depth(), "pp times --chunks", "layers");
    if (layout.micro_batches() % layout.pp != 0) {
      config_error(
          "--schedule interleaved needs a multiple of --pp {} micro-batches, not {}; nearest: "
          "--global-batch {}",
          layout.pp, layout.micro_batches(),
          (layout.micro_batches() + layout.pp - 1) / layout.pp * layout.pp * layout.dp *
              layout.micro_batch);
    }
  } else if (layout.chunks != 1) {
    config_error("--chunks {} goes with --schedule interleaved only", layout.chunks);
  }
}

void check_batch(const Layout& layout) {
  const std::int64_t least = layout.dp * layout.micro_batch;
  if (layout.global_batch < layout.dp) {
    config_error("--global-batch {} is smaller than the data parallelism {}; at least {}",
                 layout.global_batch, layout.dp, least);
  }
  if (layout.global_batch % least != 0) {
    const std::int64_t below = layout.global_batch / least * least;
    config_error(
        "--global-batch {} is not a multiple of {} data-parallel ranks times --micro-batch {}; "
        "nearest: {}{}",
        layout.global_batch, layout.dp, layout.micro_batch,
        below > 0 ? fmt::format("{} or ", below) : "", below + least);
  }
}

}  // namespace

ParameterBytes parameter_bytes(const Layout& layout) {
  if (tensor_bytes(layout.precision) == 4) return {4, 4, 8};
  if (layout.states == OptimizerStates::kBf16) return {2, 2, 4};
  return {2, 4, 12};  // gradients in fp32; a master copy and Adam's two moments
}

void check_split(const Layout& layout, const Model& model) {
  check_positive(layout.tp, "tp");
  check_positive(layout.pp, "pp");
  check_positive(layout.cp, "cp");
  check_positive(layout.ep, "ep");
  check_tensor(layout, model);
  if (layout.pp > model.depth()) {
    config_error("--pp {} stages, but {} has {} layers; at most --pp {}", layout.pp, model.name,
                 model.depth(), model.depth());
  }
}

void check_layout(const Layout& layout, const Model& model) {
  check_split(layout, model);
  check_positive(layout.dp, "dp");
  check_positive(layout.micro_batch, "micro-batch");
  check_positive(layout.global_batch, "global-batch");
  check_positive(layout.sequence, "seq");
  check_positive(layout.chunks, "chunks");
  if (layout.zero < 0 || layout.zero > 3) config_error("--zero is {}; 0 to 3", layout.zero);
  if (model.positions > 0 && layout.sequence > model.positions) {
    config_error("--seq {}, but {} has learned positions for {} tokens; at most --seq {}",
                 layout.sequence, model.name, model.positions, model.positions);
  }
  const std::int64_t pieces = layout.cp * layout.residual_split();
  if (layout.sequence % pieces != 0) {
    config_error(
        "--seq {} is not a multiple of the {} ranks that share a sequence (--cp{}); nearest: {}",
        layout.sequence, pieces, layout.sp ? ", and --tp with --sp" : "",
        std::max<std::int64_t>(1, layout.sequence / pieces) * pieces);
  }
  check_experts(layout, model);
  check_batch(layout);
  check_stages(layout, model);
}

std::int64_t layers_on(const Layout& layout, const Model& model, std::int64_t stage) {
  return model.depth() / layout.pp + (stage < model.depth() % layout.pp ? 1 : 0);
}

std::string_view name(Recompute recompute) {
  static constexpr std::string_view kNames[] = {"none", "selective", "full"};
  return kNames[static_cast<int>(recompute)];
}
std::string_view name(Schedule schedule) {
  static constexpr std::string_view kNames[] = {"1f1b", "interleaved", "gpipe"};
  return kNames[static_cast<int>(schedule)];
}
std::string_view name(Precision precision) {
  static constexpr std::string_view kNames[] = {"bf16", "fp32", "fp8", "autocast"};
  return kNames[static_cast<int>(precision)];
}
std::string_view name(AttentionKernel kernel) {
  static constexpr std::string_view kNames[] = {"flash", "materialised"};
  return kNames[static_cast<int>(kernel)];
}
std::string_view name(OptimizerStates states) {
  static constexpr std::string_view kNames[] = {"fp32", "bf16"};
  return kNames[static_cast<int>(states)];
}

std::string layout_text(const Layout& layout) {
  std::string text = fmt::format("tp {}, pp {}, dp {}", layout.tp, layout.pp, layout.dp);
  if (layout.cp > 1) text += fmt::format(", cp {}", layout.cp);
  if (layout.ep > 1) text += fmt::format(", ep {}", layout.ep);
  if (layout.sp) text += ", sp";
  if (layout.zero > 0) text += fmt::format(", zero {}", layout.zero);
  text += fmt::format(", micro-batch {}", layout.micro_batch);
  if (layout.recompute != Recompute::kNone)
    text += fmt::format(", recompute {}", name(layout.recompute));
  if (layout.pp > 1) text += fmt::format(", {}", name(layout.schedule));
  if (layout.chunks > 1) text += fmt::format(" with {} chunks", layout.chunks);
  return text;
}

}  // namespace trnsim::fleet
