// layer: core
// forbidden: timing/clock.h
// expect: fatal error: timing/clock.h
// Values do not depend on time.
#include "core/neuron_core.h"
#ifdef MISTAKE
#include "timing/clock.h"
#endif
