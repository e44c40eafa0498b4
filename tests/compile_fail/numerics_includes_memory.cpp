// layer: numerics
// forbidden: memory/memory.h
// expect: fatal error: memory/memory.h
// A dtype does not know where its values are kept.
#include "numerics/dtype.h"
#ifdef MISTAKE
#include "memory/memory.h"
#endif
