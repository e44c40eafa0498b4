// What is known of training on one accelerator, beside the hardware: how much of the modelled speed
// software reaches, how sure that is, how often jobs break off, and the power drawn.
#pragma once

#include <optional>
#include <string>

#include "catalog/fact.h"

namespace trnsim::catalog {

struct Training : Record {
  std::optional<std::string> chip, gpu;  // exactly one of them
  Number efficiency;
  Number faster, slower;    // the interval of a step time, as factors
  bool calibrated = false;  // else carried over from another accelerator
  Number interruption, restart;
  std::optional<Number> power;
};

}  // namespace trnsim::catalog
