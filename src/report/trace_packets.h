// Packets of a Perfetto trace, one after the other into a string. Knows the format, not what the
// tracks mean.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/units.h"

namespace trnsim::report::perfetto {

struct Annotation {
  std::string_view name;
  std::variant<std::int64_t, std::string> value;
};

class TracePackets {
 public:
  TracePackets();

  // Tracks are named by numbers of the caller's choice, all different.
  void process(std::uint64_t track, int pid, std::string_view name);
  void track(std::uint64_t track, std::uint64_t parent, int rank, std::string_view name);
  void counter_track(std::uint64_t track, std::uint64_t parent, int rank, std::string_view name,
                     std::string_view unit);  // "bytes" or a unit's name

  // Slices of one track nest or follow one another. Perfetto counts nanoseconds: a time is cut off
  // to whole ones, so that slices which touch in picoseconds touch in the trace.
  void begin(std::uint64_t track, Picoseconds at, std::string_view name,
             std::span<const Annotation> annotations = {},
             std::span<const std::uint64_t> flows_out = {},
             std::span<const std::uint64_t> flows_in = {});
  void end(std::uint64_t track, Picoseconds at);
  void count(std::uint64_t track, Picoseconds at, std::int64_t value);
  void count(std::uint64_t track, Picoseconds at, double value);

  const std::string& bytes() const { return out_; }

 private:
  // Texts that come again and again are sent once and then named by number.
  struct Interned {
    std::map<std::string, std::uint64_t, std::less<>> numbers;
    std::string unsent;  // entries of InternedData, encoded
    std::uint32_t tag;
    std::uint64_t number(std::string_view text);
  };

  void packet(std::string_view body);
  void descriptor(std::string_view body);
  void event(Picoseconds at, std::string_view body);

  std::string out_;
  Interned event_names_, annotation_names_, annotation_values_;
};

}  // namespace trnsim::report::perfetto
