#include "core/capacity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace trnsim::core {
namespace {

constexpr int kQuadrant = 32;  // tiles start at multiples of so many partitions

struct Life {
  std::size_t first, last;  // instructions
  const program::TensorLife* tensor;
};

// Bytes that a tile takes, in all the quadrants of partitions that it reaches into.
std::int64_t area(const program::TensorLife& tile) {
  return (tile.partitions + kQuadrant - 1) / kQuadrant * kQuadrant * tile.bytes;
}

std::vector<Life> lives(const program::Program& program, memory::Space space) {
  std::map<std::uint32_t, Life> found;
  for (std::size_t i = 0; i < program.size(); ++i) {
    program.for_each_touched(program[i], [&](const isa::FieldInfo&, const isa::Tile& tile) {
      if (tile.space != space) return;
      const auto tensor = program.tensors().find(tile.tensor);
      if (tensor == program.tensors().end()) return;
      found.try_emplace(tile.tensor, Life{i, i, &tensor->second}).first->second.last = i;
    });
  }
  std::vector<Life> result;
  for (const auto& [id, life] : found) result.push_back(life);
  return result;
}

std::string listed(std::vector<Life> live, const program::Program& program) {
  std::stable_sort(live.begin(), live.end(),
                   [](const Life& a, const Life& b) { return a.tensor->bytes > b.tensor->bytes; });
  constexpr std::size_t kShown = 12;
  std::string text;
  for (std::size_t i = 0; i < std::min(live.size(), kShown); ++i) {
    const program::TensorLife& tensor = *live[i].tensor;
    text += fmt::format("{}{} [{} x {} B, {} to {}]", i ? ", " : "", tensor.name, tensor.partitions,
                        tensor.bytes, program.place(program[live[i].first].site),
                        program.place(program[live[i].last].site));
  }
  return live.size() > kShown ? text + fmt::format(" and {} more", live.size() - kShown) : text;
}

}  // namespace

std::optional<Overflow> overflow(const program::Program& program, const memory::Memory& memory,
                                 memory::Space space) {
  const std::vector<Life> all = lives(program, space);
  std::map<std::size_t, std::int64_t> change;
  for (const Life& life : all) {
    change[life.first] += area(*life.tensor);
    change[life.last + 1] -= area(*life.tensor);
  }
  std::int64_t bytes = 0, most = 0;
  std::size_t worst = 0;
  for (const auto& [at, by] : change) {
    bytes += by;
    if (bytes <= most) continue;
    most = bytes;
    worst = at;
  }
  const std::int64_t room = memory.placement(space).bytes(),
                     partitions = memory.geometry().partitions;
  if (most <= room * partitions) return std::nullopt;
  std::vector<Life> live;
  std::copy_if(all.begin(), all.end(), std::back_inserter(live),
               [&](const Life& life) { return life.first <= worst && worst <= life.last; });
  return Overflow{
      program[worst].site,
      fmt::format("{} overflow: at {} the tiles that are still needed take {} bytes in each "
                  "partition, which has {}. Each of them, with its first and last use, largest "
                  "first: {}. Use smaller blocks or tile the free dimension",
                  memory::space_name(space), program.place(program[worst].site),
                  (most + partitions - 1) / partitions, room, listed(live, program))};
}

}  // namespace trnsim::core
