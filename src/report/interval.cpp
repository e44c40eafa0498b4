#include "report/interval.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace trnsim::report {
namespace {

// One standard deviation of the logarithm of a figure, by its confidence: documented, measured,
// inferred, guess (docs/assumptions.md).
constexpr std::array kDeviation{0.03, 0.05, 0.15, 0.5};
constexpr double kNineTenths = 1.645;  // standard deviations, to either side
// What is outside the range of what was measured may be off by this much more.
constexpr double kWider = 1.5;

constexpr std::array kTransferLosses{Loss::kDmaLatency, Loss::kDmaIssue, Loss::kDmaSmall,
                                     Loss::kDmaBandwidth, Loss::kHbmBandwidth};

// Figures of one kind are wrong together, those of different kinds are not.
double deviation(const ConfidenceShare& share) {
  double sum = 0;
  for (std::size_t i = 0; i < share.size(); ++i) sum += std::pow(share[i] * kDeviation[i], 2);
  return std::sqrt(sum);
}

// In what way the program is unlike those of the family; empty where it is not.
std::string unlike(const Likeness& what, const catalog::Family& family) {
  if (std::ranges::find(family.chips, what.chip) == family.chips.end())
    return fmt::format("no kernel was measured on {}", what.chip);
  const auto outside = [](const catalog::Range& range, double value, std::string_view name) {
    if (range.holds(value)) return std::string();
    return fmt::format("{} than any measured kernel", value < range.low
                                                          ? fmt::format("less {}", name)
                                                          : fmt::format("more {}", name));
  };
  for (std::string reason : {outside(family.latency_ns, what.latency_ns, "time"),
                             outside(family.instructions, what.instructions, "instructions"),
                             outside(family.dma_share, what.dma_share, "of it in DMA")}) {
    if (!reason.empty()) return reason;
  }
  return {};
}

}  // namespace

Likeness likeness(std::span<const Run> launch, const Summary& slowest,
                  const ConfidenceShare& confidence) {
  Likeness what{.chip = slowest.chip,
                .latency_ns = slowest.latency.ns(),
                .scheduling = slowest.scheduling,
                .confidence = confidence};
  for (const Run& run : launch) what.instructions += static_cast<double>(run.program->size());
  for (const LossUse& use : slowest.losses) {
    if (std::ranges::find(kTransferLosses, use.loss) != kTransferLosses.end())
      what.dma_share += use.share;
  }
  return what;
}

std::string_view kernel_part(const Likeness& what) {
  return what.scheduling == timing::Scheduling::kList ? "reordered kernels"
                                                      : "kernels in program order";
}

Interval interval(const Likeness& what, const catalog::Family* family) {
  Interval result;
  double down = 0, up = 0;  // of the logarithm
  if (!family) {
    result.basis = "extrapolated: nothing was measured";
  } else if (const std::string reason = unlike(what, *family); !reason.empty()) {
    result.basis = fmt::format("extrapolated: {}", reason);
  } else {
    result.interpolated = true;
    result.basis = fmt::format("interpolated: within {} measured {}", family->rows, family->name);
  }
  if (family) {
    // The prediction itself is never outside.
    down = std::max(0.0, -std::log(family->ratio.low));
    up = std::max(0.0, std::log(family->ratio.high));
  }
  const double figures = kNineTenths * deviation(what.confidence);
  const double wider = result.interpolated ? 1 : kWider;
  result.low_ns = what.latency_ns * std::exp(-wider * std::hypot(down, figures));
  result.high_ns = what.latency_ns * std::exp(wider * std::hypot(up, figures));
  return result;
}

}  // namespace trnsim::report
