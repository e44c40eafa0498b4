// Time as an integer number of picoseconds, so that clocking is exact and the same on every host.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

namespace trnsim {

struct Picoseconds {
  std::int64_t count = 0;

  constexpr auto operator<=>(const Picoseconds&) const = default;
  constexpr Picoseconds& operator+=(Picoseconds other) {
    count += other.count;
    return *this;
  }
  constexpr double us() const { return static_cast<double>(count) * 1e-6; }
  constexpr double ns() const { return static_cast<double>(count) * 1e-3; }
};

constexpr Picoseconds operator+(Picoseconds a, Picoseconds b) { return {a.count + b.count}; }
constexpr Picoseconds operator-(Picoseconds a, Picoseconds b) { return {a.count - b.count}; }

// Rounded to the nearest picosecond: the only place where a fraction enters the clock.
inline Picoseconds from_ns(double ns) { return {std::llround(ns * 1e3)}; }
inline Picoseconds from_cycles(double cycles, double ghz) {
  return {std::llround(cycles * 1e3 / ghz)};
}

}  // namespace trnsim
