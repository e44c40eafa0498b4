#include "report/confidence_share.h"

#include <algorithm>

#include "catalog/schema.h"
#include "report/question.h"

namespace trnsim::report {
namespace {

using catalog::Confidence;
using catalog::Field;
using catalog::Number;

constexpr double kWorse = 1.05;
constexpr std::size_t kAsked = 4'000;  // instructions, over all cores

// The factor that makes a figure worse; 1 for what is no time or rate, as the size of a memory.
double worse(const Field& field) {
  for (const std::string_view unit : {"ns", "us", "cycles", "cycles/element"}) {
    if (field.unit == unit) return kWorse;
  }
  for (const std::string_view unit : {"GHz", "GB/s", "elements/cycle"}) {
    if (field.unit == unit) return 1 / kWorse;
  }
  if (field.unit != "ratio") return 1;
  return field.path.ends_with("slowdown") ? kWorse : 1 / kWorse;
}

void make_worse(Number& figure, Confidence confidence, double factor) {
  if (figure.confidence == confidence) figure.value *= factor;
}

void make_worse(catalog::Chip& chip, Confidence confidence) {
  for (const Field& field : catalog::chip_schema().fields) {
    const double factor = worse(field);
    if (factor == 1) continue;
    // A figure of an optional group that the chip does not have would come into being.
    if (field.access.optional_group && !chip.fact(field.path)) continue;
    const catalog::Slot slot = field.access.slot(field.enclosing ? field.enclosing(&chip) : &chip);
    if (auto* const* figure = std::get_if<Number*>(&slot)) {
      make_worse(**figure, confidence, factor);
    } else if (auto* const* maybe = std::get_if<std::optional<Number>*>(&slot); maybe && **maybe) {
      make_worse(***maybe, confidence, factor);
    }
  }
}

}  // namespace

ConfidenceShare confidence_share(std::span<const Run> launch) {
  ConfidenceShare share{};
  Question as_it_is(launch);
  as_it_is.keep_first(kAsked);
  const double now = as_it_is.latency().ns();
  double all = 0;
  for (std::size_t i = 0; i < share.size(); ++i) {
    Question question = as_it_is;
    make_worse(question.chip, static_cast<Confidence>(i));
    share[i] = std::max(0.0, question.latency().ns() - now);
    all += share[i];
  }
  for (double& part : share) part = all > 0 ? part / all : 0;
  return share;
}

}  // namespace trnsim::report
