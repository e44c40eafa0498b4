// layer: catalog
// forbidden: numerics/dtype.h
// expect: fatal error: numerics/dtype.h
// The catalogue holds numbers about hardware and computes nothing with them. numerics is lower, but
// catalog does not name it: a layer sees what it names, not all that stands below it.
#include "catalog/catalog.h"
#ifdef MISTAKE
#include "numerics/dtype.h"
#endif
