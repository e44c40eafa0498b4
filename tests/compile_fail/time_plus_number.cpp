// layer: base
// expect: no match for .*operator[+]
// A time and a bare number do not add up: the number's unit is unknown.
#include "base/units.h"

trnsim::Picoseconds later(trnsim::Picoseconds start) {
#ifdef MISTAKE
  return start + 500;
#else
  return start + trnsim::Picoseconds{500};
#endif
}
