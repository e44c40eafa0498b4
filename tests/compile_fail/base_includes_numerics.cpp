// layer: base
// forbidden: numerics/dtype.h
// expect: fatal error: numerics/dtype.h
// base knows no hardware and no dtype.
#include "base/error.h"
#ifdef MISTAKE
#include "numerics/dtype.h"
#endif
