// One hardware figure with the trust it deserves. A Number converts to double, so that formulas
// read like formulas, yet a report can still ask how much of a result rests on guesses. Where a
// figure comes from is kept in fact.h.
#pragma once

#include <optional>
#include <string_view>

namespace trnsim::catalog {

enum class Confidence {
  kDocumented,  // printed by the vendor: documentation, figures, published code
  kMeasured,    // measured on the hardware by somebody, with the method given
  kInferred,    // follows from documented or measured figures by a written argument
  kGuess,       // nothing public; chosen so that a simulation can go on
};

std::string_view confidence_name(Confidence confidence);
std::optional<Confidence> parse_confidence(std::string_view name);

struct Number {
  double value = 0;
  Confidence confidence = Confidence::kGuess;

  constexpr operator double() const { return value; }
};

}  // namespace trnsim::catalog
