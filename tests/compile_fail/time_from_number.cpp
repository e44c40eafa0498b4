// layer: base
// expect: could not convert .*trnsim::Picoseconds
// A bare number is not a time.
#include "base/units.h"

trnsim::Picoseconds start() {
#ifdef MISTAKE
  return 500;
#else
  return trnsim::from_ns(0.5);
#endif
}
