// layer: timing
// forbidden: core/neuron_core.h
// expect: fatal error: core/neuron_core.h
// Time does not depend on values.
#include "timing/clock.h"
#ifdef MISTAKE
#include "core/neuron_core.h"
#endif
