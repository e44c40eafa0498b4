#include "memory/stretch.h"

#include <cstring>

namespace trnsim::memory {

void gather(const Memory& memory, const AccessPattern& from, std::byte* to) {
  StretchCursor cursor(memory, from);
  for (std::int64_t left = from.bytes(); left > 0;) {
    const std::int64_t step = cursor.left();
    std::memcpy(to, cursor.at(), step);
    cursor.advance(step);
    to += step;
    left -= step;
  }
}

void scatter(const Memory& memory, const AccessPattern& to, const std::byte* from) {
  StretchCursor cursor(memory, to);
  for (std::int64_t left = to.bytes(); left > 0;) {
    const std::int64_t step = cursor.left();
    std::memcpy(cursor.at(), from, step);
    cursor.advance(step);
    from += step;
    left -= step;
  }
}

}  // namespace trnsim::memory
