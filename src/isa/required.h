// Numbers of the catalogue that only some generations have, for the costs that cannot do without.
#pragma once

#include <optional>

#include "base/error.h"
#include "isa/rules.h"

namespace trnsim::isa {

// In check(): a core may be a user's own file.
inline void require_number(const Rules& rules, const std::optional<catalog::Number>& number,
                           std::string_view name) {
  if (number) return;
  throw Error(Fault::kMissingSpec,
              fmt::format("{}: the file of NeuronCore-{} does not give {}, on which its cost rests",
                          rules.instruction(), rules.core().generation, name));
}

}  // namespace trnsim::isa
