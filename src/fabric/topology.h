// What joins the chips: a product of rings, lines and switches within a system (an instance or an
// UltraServer), and a network card or more per system between equal systems. Every direction of a
// link, every port, card and memory is a resource of its own that all transfers across it share.
//
// Routes go dimension by dimension, the outermost axis first, as addresses (rack, server, chip) and
// (z, row, column) are resolved; on a ring by the shorter way, forwards where both are equal. Where
// a link on that way is down, the shortest way over links that are up is taken instead.
//
// Left out: virtual channels and credits; chips on the way cost their links and nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"

namespace trnsim::fabric {

enum class AxisKind : std::uint8_t { kRing, kLine, kSwitch };

struct Axis {
  AxisKind kind = AxisKind::kRing;
  int size = 1;
  std::int64_t each_way = 0;  // bytes per second: one link, or one port of the switch
  Picoseconds latency;        // of one hop, beside the cost of the step
};

// What a step of a collective costs beside its bytes, and the most that one transfer gets.
struct StepCosts {
  Picoseconds start, direct, reduction, ring;
  Picoseconds network;  // after a message between systems, before its sender goes on
  std::int64_t stream = 0, mesh_rank = 0;  // bytes per second; 0: no limit
};

// When the runtime takes which algorithm; zeroes where it always goes in rings.
struct Choices {
  std::int64_t mesh_below = 0, halving_below = 0;  // bytes of an all_reduce
  std::int64_t flat_ring_from = 0;                 // 0: never through all instances
  int mesh_chips_max = 0, kanga_ranks_max = 0, channels_max = 0;
  bool engines = true;  // has engines for collectives; without them ranks only send and receive
  bool pairs = true;    // rings go by pairs of ranks (KangaRing)
};

struct Network {
  int cards = 0;  // per system; 0: systems are not joined
  std::int64_t each_way = 0;
  Picoseconds latency;
};

struct Topology {
  std::string name, accelerator;
  std::vector<Axis> axes;  // the innermost first
  int inner_axes = 0;      // axes within one instance; the others join the instances of a system
  int ranks_per_chip = 1;
  std::int64_t systems = 1;
  std::int64_t memory = 0;  // bytes per second of one chip; 0: no limit
  Network network;
  StepCosts steps;
  Choices choices;
  std::set<std::int64_t> down_chips;
  std::set<std::pair<std::int64_t, std::int64_t>> down_links;  // from chip to chip

  int chips() const;  // of one system
  int inner_chips() const;
  int ranks_per_system() const { return chips() * ranks_per_chip; }
  std::int64_t ranks() const { return systems * ranks_per_system(); }
  std::int64_t chip_of(std::int64_t rank) const { return rank / ranks_per_chip; }
  bool whole() const { return down_chips.empty() && down_links.empty(); }
};

// Resources have numbers: those of system s are s * per_system + the number within the system.
struct ResourceMap {
  explicit ResourceMap(const Topology& topology);

  std::int64_t link(int axis, int chip, int direction) const {
    return axis_start[static_cast<std::size_t>(axis)] + 2 * chip + direction;
  }
  std::int64_t memory(int chip) const { return memory_start + chip; }
  std::int64_t card_out(int chip) const { return card_start + card_of(chip); }
  std::int64_t card_in(int chip) const { return card_start + cards + card_of(chip); }
  std::int64_t mesh_port(int rank) const { return mesh_start + rank; }
  int card_of(int chip) const { return chip * cards / chips; }

  std::int64_t capacity(std::int64_t local) const;
  std::string name(std::int64_t resource) const;
  bool is_link(std::int64_t resource) const {  // a network card too
    const std::int64_t local = resource % per_system;
    return local < memory_start || (local >= card_start && local < mesh_start);
  }

  const Topology* topology;
  int chips, cards;
  std::vector<std::int64_t> axis_start;
  std::int64_t memory_start, card_start, mesh_start, per_system;
};

struct Route {
  std::vector<std::int64_t> links;  // resource numbers, with the system's
  Picoseconds latency;
};

class Router {
 public:
  explicit Router(const Topology& topology) : topology_(topology), map_(topology) {}

  const ResourceMap& resources() const { return map_; }
  // From one chip to another of any system; empty for the same chip. Throws ConfigError where
  // nothing that is up joins them.
  Route route(std::int64_t from, std::int64_t to);

 private:
  const Route& within(std::int64_t system, int from, int to);
  bool is_up(std::int64_t system, int from, int to) const;
  bool walk(std::int64_t system, int from, int to, Route* route) const;
  Route detour(std::int64_t system, int from, int to) const;
  void add_hop(int axis, int from, int to, int direction, Route* route) const;

  const Topology& topology_;
  ResourceMap map_;
  std::map<std::pair<std::int64_t, std::int64_t>, Route> known_;
};

}  // namespace trnsim::fabric
