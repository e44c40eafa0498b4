#include "isa/rules.h"

#include <algorithm>

#include "numerics/dtype.h"

namespace trnsim::isa {
namespace {

std::string buffers_text(Buffers buffers) {
  switch (buffers) {
    case Buffers::kSbuf:
      return "SBUF";
    case Buffers::kPsum:
      return "PSUM";
    case Buffers::kHbm:
      return "HBM";
    case Buffers::kOnChip:
      return "SBUF or PSUM";
    case Buffers::kSbufHbm:
      return "SBUF or HBM";
  }
  return "";
}

bool allowed(Buffers buffers, Space space) {
  return static_cast<int>(buffers) >> static_cast<int>(space) & 1;
}

}  // namespace

void Rules::raise(std::string_view rule, std::string text) const {
  throw Error(Fault::kProgram,
              fmt::format("{}: {} (NeuronCore-{})", instruction_, text, core_.generation),
              fmt::format("{}.{}", instruction_, rule));
}

void Rules::operand(const char* name, const Tile& tile, Buffers buffers) const {
  if (!allowed(buffers, tile.space)) {
    fail("buffer", "{} is in {} but must be in {}", name, memory::space_name(tile.space),
         buffers_text(buffers));
  }
  if (!tile.on_chip()) return;
  const int partitions = tile.partitions(), start = tile.start_partition;
  const auto limit = static_cast<int>(core_.sbuf.partitions);
  if (start + partitions > limit) {
    fail("partitions", "{} reaches from partition {} to {}; there are {}", name, start,
         start + partitions - 1, limit);
  }
  const int step = partitions > 64 ? 128 : partitions > 32 ? 64 : 32;
  if (start % step != 0) {
    fail("start_partition",
         "{} starts at partition {}; {} partitions may start only at a multiple of {}", name, start,
         partitions, step);
  }
}

void Rules::operand(const char* name, const ScalarOrTile& value, Buffers buffers) const {
  if (value.is_tile()) operand(name, value.tile, buffers);
}

void Rules::same_partitions(const char* name_a, const Tile& a, const char* name_b,
                            const Tile& b) const {
  if (a.partitions() != b.partitions()) {
    fail("same_partitions", "{} has {} partitions and {} has {}; they must be equal", name_a,
         a.partitions(), name_b, b.partitions());
  }
}

void Rules::same_free_size(const char* name_a, const Tile& a, const char* name_b,
                           const Tile& b) const {
  if (a.free_elements() != b.free_elements()) {
    fail("same_free_size", "{} has {} elements per partition and {} has {}; they must be equal",
         name_a, a.free_elements(), name_b, b.free_elements());
  }
}

void Rules::same_dtype(const char* name_a, const Tile& a, const char* name_b, const Tile& b) const {
  if (a.dtype != b.dtype) {
    fail("same_dtype", "{} is {} and {} is {}; they must be equal", name_a,
         numerics::info(a.dtype).name, name_b, numerics::info(b.dtype).name);
  }
}

void Rules::free_size_at_most(const char* name, const Tile& tile, std::int64_t limit,
                              const char* why) const {
  if (tile.free_elements() > limit) {
    fail("free_size", "{} free size {} exceeds {} ({})", name, tile.free_elements(), limit, why);
  }
}

void Rules::per_partition(const char* name, const ScalarOrTile& value, const Tile& tile) const {
  if (!value.is_tile()) return;
  if (value.tile.free_elements() != 1) {
    fail("per_partition",
         "{} has {} elements per partition; it must be a number or one element per partition", name,
         value.tile.free_elements());
  }
  if (value.tile.partitions() != tile.partitions()) {
    fail("per_partition", "{} has {} partitions, the tile beside it {}", name,
         value.tile.partitions(), tile.partitions());
  }
}

void Rules::not_both_psum(const char* name_a, const Tile& a, const char* name_b,
                          const Tile& b) const {
  if (a.space == Space::kPsum && b.space == Space::kPsum) {
    fail("both_psum", "{} and {} are both in PSUM; at most one may be", name_a, name_b);
  }
}

void Rules::integer_bits(const char* name, const Tile& tile) const {
  const auto& info = numerics::info(tile.dtype);
  if (info.is_float)
    fail("integer_bits", "{} is {}; bitwise operations take integer types", name, info.name);
}

void Rules::generation_at_least(int version, const char* feature) const {
  if (generation() < version) {
    fail("generation", "{} needs NeuronCore-v{} or later", feature, version);
  }
}

}  // namespace trnsim::isa
