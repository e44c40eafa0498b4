#include "report/page_instructions.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "report/columns.h"
#include "report/instruction_text.h"

namespace trnsim::report {
namespace {

using Json = nlohmann::ordered_json;
using timing::Entry;
using timing::kNobody;

class Instructions {
 public:
  Instructions(std::span<const Run> launch, std::size_t core)
      : program_(*launch[core].program),
        entries_(launch[core].timeline->entries),
        model_(launch[core].chip->core) {
    for (const auto& [id, life] : program_.tensors())
      tensors_.emplace(id, static_cast<std::int64_t>(tensors_.size()));
    for (std::size_t i = 0; i < program_.size(); ++i) kinds_.push_back(kind_of(i));
    // Those of one kind stand together: in a loop they are alike.
    order_.resize(program_.size());
    std::iota(order_.begin(), order_.end(), 0U);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return kinds_[a] < kinds_[b]; });
    for (std::uint32_t k = 0; k < order_.size(); ++k) {
      if (k == 0 || kinds_[order_[k]] != kinds_[order_[k - 1]]) starts_.push_back(k);
    }
  }

  Json take() {
    columns_["kind"] = sequence_column(kinds_);
    add_times();
    add_waits();
    add_names();
    add_places();
    return {{"count", program_.size()},       {"opcodes", opcodes_.take()},
            {"names", names_.take()},         {"patterns", std::move(patterns_)},
            {"kinds", std::move(kind_list_)}, {"slots", slots_},
            {"columns", std::move(columns_)}};
  }

 private:
  // Site, opcode, pattern, queue, FLOPs, bytes, pieces and their bytes.
  using Kind = std::array<std::int64_t, 8>;

  std::uint32_t kind_of(std::size_t i) {
    const program::Instruction& instruction = program_[i];
    const isa::InstructionType& type = program_.type(instruction);
    const isa::Cost cost = type.cost(program_.args(instruction), model_);
    const isa::Tile* tile = main_tile(program_, i);
    const bool transfers = timing::is_dma(entries_[i].queue);
    const Kind kind{std::min<std::int64_t>(instruction.site, std::ssize(program_.sites())),
                    opcodes_.number(std::string(type.info.name)),
                    pattern_of(i),
                    static_cast<std::int64_t>(entries_[i].queue),
                    cost.flops,
                    transfers ? cost.dma.bytes
                    : tile    ? tile->bytes()
                              : 0,
                    cost.dma.elements,
                    cost.dma.element_bytes};
    const auto [it, added] =
        kind_numbers_.try_emplace(kind, static_cast<std::uint32_t>(kind_numbers_.size()));
    if (added) kind_list_.push_back(kind);
    return it->second;
  }

  // For each operand "dst", "PSUM float32 128x512" and whether it is written.
  std::int64_t pattern_of(std::size_t i) {
    Json operands = Json::array();
    std::size_t slots = 0;
    std::string key;
    isa::for_each_tile(program_.type(program_[i]), program_.args(program_[i]),
                       [&](const isa::FieldInfo& field, const isa::Tile& tile) {
                         const std::string text =
                             fmt::format("{} {} {}", memory::space_name(tile.space),
                                         numerics::info(tile.dtype).name, shape_text(tile));
                         key += fmt::format("{} {} ", field.name, text);
                         operands.push_back({field.name, text, isa::writes(field.access)});
                         ++slots;
                       });
    slots_ = std::max(slots_, slots);
    const auto [it, added] =
        pattern_numbers_.try_emplace(std::string(program_.type(program_[i]).info.name) + key,
                                     static_cast<std::int64_t>(patterns_.size()));
    if (added) patterns_.push_back(std::move(operands));
    return it->second;
  }

  template <class Fn>
  void add(const std::string& name, Predicted predicted, Fn&& value) {
    values_.clear();
    for (const std::uint32_t i : order_) values_.push_back(value(i, entries_[i]));
    columns_[name] = column(values_, starts_, predicted);
  }

  void add_times() {
    add("start", Predicted::kSteady, [](auto, const Entry& e) { return e.start.count; });
    add("busy", Predicted::kSame,
        [](auto, const Entry& e) { return (e.busy_end - e.start).count; });
    add("end", Predicted::kSame, [](auto, const Entry& e) { return (e.end - e.start).count; });
    add("prelude", Predicted::kSame, [](auto, const Entry& e) { return e.prelude.count; });
  }

  // How far back the other one stands, and on which core, counted from 1; 0 where there is none.
  void add_waits() {
    const auto back = [](std::uint32_t i, std::uint32_t other) {
      return other == kNobody ? 0 : std::int64_t{i} - other;
    };
    const auto whose = [](std::uint32_t other, std::uint8_t core) -> std::int64_t {
      return other == kNobody ? 0 : core + 1;
    };
    add("wait", Predicted::kSame,
        [](auto, const Entry& e) { return static_cast<std::int64_t>(e.wait); });
    add("waited_back", Predicted::kSame,
        [&](std::uint32_t i, const Entry& e) { return back(i, e.waited_for); });
    add("waited_core", Predicted::kSame,
        [&](auto, const Entry& e) { return whose(e.waited_for, e.waited_core); });
    add("served_back", Predicted::kSame,
        [&](std::uint32_t i, const Entry& e) { return back(i, e.served_after); });
    add("served_core", Predicted::kSame,
        [&](auto, const Entry& e) { return whose(e.served_after, e.served_core); });
  }

  // The user's own, counted from 1.
  void add_names() {
    add("name", Predicted::kSame, [&](std::uint32_t i, auto&) {
      const std::string* name = program_.name(i);
      return name ? names_.number(*name) + 1 : 0;
    });
  }

  // The tensor (counted from 1) and the place of each operand: a set of columns for each position
  // in the list of operands.
  void add_places() {
    std::vector<std::vector<isa::Tile>> tiles(program_.size());
    for (std::size_t i = 0; i < program_.size(); ++i) {
      isa::for_each_tile(
          program_.type(program_[i]), program_.args(program_[i]),
          [&](const isa::FieldInfo&, const isa::Tile& tile) { tiles[i].push_back(tile); });
    }
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      const auto add_of = [&](const char* name, Predicted predicted, auto&& value) {
        add(fmt::format("{}{}", name, slot), predicted, [&](std::uint32_t i, auto&) {
          return slot < tiles[i].size() ? value(tiles[i][slot]) : 0;
        });
      };
      add_of("tensor", Predicted::kSteady, [&](const isa::Tile& tile) {
        const auto found = tensors_.find(tile.tensor);
        return found == tensors_.end() ? 0 : found->second + 1;
      });
      add_of("offset", Predicted::kSteady, [](const isa::Tile& tile) { return tile.offset; });
      add_of("partition", Predicted::kSame,
             [](const isa::Tile& tile) { return std::int64_t{tile.start_partition}; });
    }
  }

  const program::Program& program_;
  const std::vector<Entry>& entries_;
  isa::CostModel model_;
  std::map<std::uint32_t, std::int64_t> tensors_;  // by id: the place in the page's list
  Dictionary opcodes_, names_;
  std::map<std::string, std::int64_t> pattern_numbers_;
  std::map<Kind, std::uint32_t> kind_numbers_;
  Json patterns_ = Json::array(), kind_list_ = Json::array(), columns_;
  std::size_t slots_ = 0;
  std::vector<std::uint32_t> kinds_, order_, starts_;
  std::vector<std::int64_t> values_;
};

}  // namespace

Json instructions_data(std::span<const Run> launch, std::size_t core) {
  return Instructions(launch, core).take();
}

}  // namespace trnsim::report
