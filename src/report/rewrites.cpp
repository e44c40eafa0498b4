#include "report/rewrites.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "report/losses.h"
#include "report/memory_use.h"

namespace trnsim::report {
namespace {

using program::Instruction;
using program::Program;
using timing::Revision;

// Copies an argument by name from one argument struct to another; false when either has none.
template <class T>
bool hand_over(const isa::InstructionType& from, const void* from_args, std::string_view from_name,
               const isa::InstructionType& to, std::byte* to_args, std::string_view to_name) {
  const T* value = nullptr;
  for (const isa::FieldInfo& field : from.fields) {
    if (field.name == from_name)
      value = reinterpret_cast<const T*>(static_cast<const std::byte*>(from_args) + field.offset);
  }
  for (const isa::FieldInfo& field : to.fields) {
    if (value && field.name == to_name) {
      *reinterpret_cast<T*>(to_args + field.offset) = *value;
      return true;
    }
  }
  return false;
}

int tile_count(const Program& program, const Instruction& instruction) {
  int count = 0;
  isa::for_each_tile(program.type(instruction), program.args(instruction),
                     [&](const isa::FieldInfo&, const isa::Tile&) { ++count; });
  return count;
}

bool is_transfer(const Instruction& instruction) { return instruction.engine == isa::Engine::kDma; }

// The HBM side of a load, as something to compare; empty for anything else.
std::vector<std::int64_t> loaded_from(const Program& program, const Instruction& instruction) {
  if (timing::queue_of(program, instruction) != timing::Queue::kDmaLoad) return {};
  std::vector<std::int64_t> key{instruction.opcode};
  isa::for_each_tile(program.type(instruction), program.args(instruction),
                     [&](const isa::FieldInfo&, const isa::Tile& tile) {
                       if (tile.indirection != 0) key.push_back(-1);
                       for (int d = 0; d < tile.dims; ++d) key.push_back(tile.sizes[d]);
                       if (tile.on_chip()) return;
                       key.insert(key.end(), {static_cast<std::int64_t>(tile.tensor), tile.offset});
                       for (int d = 0; d < tile.dims; ++d) key.push_back(tile.strides[d]);
                     });
  return std::find(key.begin(), key.end(), -1) == key.end() ? key : std::vector<std::int64_t>{};
}

std::set<std::uint32_t> written_tensors(const Program& program) {
  std::set<std::uint32_t> written;
  for (std::size_t i = 0; i < program.size(); ++i) {
    program.for_each_touched(program[i], [&](const isa::FieldInfo& field, const isa::Tile& tile) {
      if (!tile.on_chip() && isa::writes(field.access)) written.insert(tile.tensor);
    });
  }
  return written;
}

// Bytes that a load fills in each partition, and whether what it reads never changes.
std::pair<std::int64_t, bool> kept_bytes(const Program& program, const Instruction& instruction,
                                         const std::set<std::uint32_t>& written) {
  std::int64_t bytes = 0;
  bool constant = true;
  program.for_each_touched(instruction, [&](const isa::FieldInfo&, const isa::Tile& tile) {
    if (tile.on_chip())
      bytes = std::max(bytes, tile.bytes() / tile.partitions());
    else
      constant = constant && !written.contains(tile.tensor);
  });
  return {bytes, constant};
}

// Which loads of a core bring what an earlier one has brought.
std::vector<bool> repeated_loads(const Run& run) {
  const Program& program = *run.program;
  const std::set<std::uint32_t> written = written_tensors(program);
  auto room = static_cast<std::int64_t>(run.chip->core.sbuf.usable_bytes_per_partition) -
              peak_use(program, memory::Space::kSbuf);
  std::map<std::vector<std::int64_t>, bool> seen;  // with whether it is kept
  std::vector<bool> repeated(program.size());
  for (std::size_t i = 0; i < program.size(); ++i) {
    auto key = loaded_from(program, program[i]);
    if (key.empty()) continue;
    const auto [bytes, constant] = kept_bytes(program, program[i], written);
    if (!constant) continue;
    const auto [at, first] = seen.try_emplace(std::move(key), bytes <= room);
    if (first && at->second) room -= bytes;
    repeated[i] = !first && at->second;
  }
  return repeated;
}

}  // namespace

void make_transfers_contiguous(Question& question) {
  question.options.revise = [](std::size_t, std::uint32_t, isa::Cost& cost) -> Revision {
    isa::DmaWork& work = cost.dma;
    const std::int64_t lanes = std::max(1, work.lanes);
    work.transpose = false;
    if (work.elements > lanes) {
      work.elements = lanes;
      work.element_bytes = work.bytes / lanes;
    }
    return {};
  };
}

void gather_transfers(Question& question) {
  using Lines = std::map<std::pair<std::uint32_t, std::uint16_t>, double>;  // their transfers
  std::vector<Lines> lines;
  std::vector<const Program*> programs;
  for (const Run& run : question.launch()) {
    Lines& core = lines.emplace_back();
    programs.push_back(run.program);
    for (std::size_t i = 0; i < run.program->size(); ++i) {
      const Instruction& instruction = (*run.program)[i];
      if (is_transfer(instruction)) ++core[{instruction.site, instruction.opcode}];
    }
  }
  question.options.revise = [lines = std::move(lines), programs,
                             enough = question.chip.core.dma.saturating_bytes.value](
                                std::size_t core, std::uint32_t i, isa::Cost& cost) -> Revision {
    const isa::DmaWork& work = cost.dma;
    const Instruction& instruction = (*programs[core])[i];
    const std::int64_t lanes = std::max(1, work.lanes);
    if (!is_transfer(instruction) || work.bytes == 0 || work.elements > lanes) return {};
    const double share = static_cast<double>(work.bytes) / static_cast<double>(lanes);
    const double together =
        std::min(enough / share, lines[core].at({instruction.site, instruction.opcode}));
    return {.fixed = 1 / std::max(1.0, together)};
  };
}

void keep_loaded_tiles(Question& question) {
  std::vector<std::vector<bool>> repeated;
  for (const Run& run : question.launch()) repeated.push_back(repeated_loads(run));
  question.options.revise = [repeated = std::move(repeated)](std::size_t core, std::uint32_t i,
                                                             isa::Cost&) -> Revision {
    return {.left_out = repeated[core][i]};
  };
}

void evict_on(Question& question, isa::Engine engine) {
  const isa::InstructionType& copy = *isa::find_instruction("tensor_copy");
  for (std::size_t core = 0; core < question.launch().size(); ++core) {
    const Program& recorded = *question.launch()[core].program;
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      const isa::InstructionType& type = recorded.type(recorded[i]);
      const void* args = recorded.args(recorded[i]);
      if (!evicts_psum(type, args) || tile_count(recorded, recorded[i]) != 2) continue;
      std::vector<std::byte> moved = copy.defaults;
      const bool is_copy = &type == &copy;
      if (!hand_over<isa::Tile>(type, args, "dst", copy, moved.data(), "dst") ||
          !hand_over<isa::Tile>(type, args, is_copy ? "src" : "data", copy, moved.data(), "src"))
        continue;
      for (const isa::FieldInfo& field : copy.fields) {
        if (field.kind == isa::FieldKind::kEngine)
          *reinterpret_cast<isa::Engine*>(moved.data() + field.offset) = engine;
      }
      question.program(core).replace(i, copy, engine, moved.data());
    }
  }
}

void share_work_evenly(Question& question) {
  // By core: the time of each stretch up to a meeting, and the stretch of each instruction.
  std::vector<std::vector<double>> times;
  std::vector<std::vector<std::size_t>> stretches;
  std::size_t fewest = ~std::size_t{0};
  for (const Run& run : question.launch()) {
    auto& time = times.emplace_back();
    auto& stretch = stretches.emplace_back();
    Picoseconds begin, reached;
    for (std::size_t i = 0; i < run.program->size(); ++i) {
      const timing::Entry& entry = run.timeline->entries[i];
      stretch.push_back(time.size());
      if (run.program->type((*run.program)[i]).meeting) {
        time.push_back((std::min(reached, entry.start) - begin).ns());
        begin = entry.end;
      }
      reached = std::max(reached, entry.end);
    }
    time.push_back((run.timeline->total - begin).ns());
    fewest = std::min(fewest, time.size());
  }
  std::vector<double> mean(fewest);
  for (std::size_t k = 0; k < fewest; ++k) {
    for (const auto& time : times) mean[k] += time[k] / static_cast<double>(times.size());
  }
  question.options.revise = [times = std::move(times), stretches = std::move(stretches),
                             mean = std::move(mean)](std::size_t core, std::uint32_t i,
                                                     isa::Cost& cost) -> Revision {
    const std::size_t k = stretches[core][i];
    if (k >= mean.size() || times[core][k] <= 0) return {};
    const double share = mean[k] / times[core][k];
    const auto scale = [&](auto& amount) {
      amount = std::llround(static_cast<double>(amount) * share);
    };
    scale(cost.occupancy.count);
    scale(cost.latency.count);
    scale(cost.array_busy.count);
    scale(cost.dma.bytes);
    scale(cost.dma.element_bytes);
    return {.fixed = share};
  };
}

}  // namespace trnsim::report
