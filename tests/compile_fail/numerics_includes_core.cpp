// layer: numerics
// forbidden: core/neuron_core.h
// expect: fatal error: core/neuron_core.h
// A rounding does not know which machine asks for it.
#include "numerics/dtype.h"
#ifdef MISTAKE
#include "core/neuron_core.h"
#endif
