// Which activation functions share a table of the Scalar Engine. Tables are loaded when the set
// changes. The catalogue lists the sets seen on devices; the whole membership is not public, so
// every other function counts as a set of its own.
#pragma once

#include "catalog/core.h"
#include "numerics/functions.h"

namespace trnsim::isa {

// 0 for a function that every set has.
std::int8_t table_set_of(const catalog::ScalarEngine& scalar,
                         numerics::ActivationFunction function);

}  // namespace trnsim::isa
