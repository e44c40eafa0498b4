#include "core/spills.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/call.h"

namespace trnsim::core {
namespace {

using program::Program;

constexpr std::uint32_t kNever = ~std::uint32_t{0};
constexpr std::size_t kLoadsMost = 16;  // a tile put together from more pieces is spilled instead
// Of the memory: tiles used so recently stay, so that a transfer into their place need not wait.
constexpr int kRecentPart = 16;

struct Occupant {
  std::uint32_t id;
  const program::TensorLife* life;
  std::vector<std::uint32_t> uses;  // instructions that touch it
  std::size_t used = 0;             // how many of them have been passed
  bool resident = false;
  std::int64_t offset = 0;                             // where it is while it is resident
  bool read = false;                                   // by something other than its loads
  std::vector<std::uint32_t> loads;                    // that make all that is in it
  bool computed = false;                               // no loads do
  std::shared_ptr<memory::Allocation> home = nullptr;  // in HBM
  bool saved = false;                                  // home holds what it holds

  std::uint32_t last_use() const { return uses[used - 1]; }
  std::uint32_t next_use() const { return used < uses.size() ? uses[used] : kNever; }
};

isa::Tile bytes_of(const Occupant& tile) {
  isa::Tile all;
  all.space = memory::Space::kSbuf;
  all.dtype = numerics::Dtype::kUint8;
  all.tensor = tile.id;
  all.offset = tile.offset;
  all.dims = 2;
  all.sizes = {tile.life->partitions, static_cast<std::int32_t>(tile.life->bytes)};
  all.strides = {0, 1};
  return all;
}

isa::Tile home_of(const Occupant& tile) {
  isa::Tile home = bytes_of(tile);
  home.offset = 0;
  home.space = memory::Space::kHbm;
  home.tensor = tile.home->id;
  home.strides = {tile.life->bytes, 1};
  return home;
}

class Spills {
 public:
  Spills(const Program& program, memory::Memory& memory, bool loads_by_need)
      : program_(program),
        memory_(memory),
        loads_by_need_(loads_by_need),
        room_(memory.placement(memory::Space::kSbuf).bytes(), 0),
        left_out_(program.size(), false) {
    for (std::uint32_t i = 0; i < program.size(); ++i) {
      for_each_tile(i, [&](const isa::FieldInfo& field, const isa::Tile& tile) {
        if (isa::writes(field.access)) written_.insert(tile.tensor);
        const auto life = program.tensors().find(tile.tensor);
        if (tile.space != memory::Space::kSbuf || life == program.tensors().end()) return;
        Occupant& mine = tiles_.try_emplace(tile.tensor).first->second;
        mine.id = tile.tensor;
        mine.life = &life->second;
        if (mine.uses.empty() || mine.uses.back() != i) mine.uses.push_back(i);
      });
    }
    for (const auto& [consumer, producers] : program.orders()) {
      ordered_.insert(consumer);
      ordered_.insert(producers.begin(), producers.end());
    }
  }

  Spilled run() {
    Program moved = program_;
    for (std::uint32_t i = 0; i < program_.size(); ++i) pass(i, moved);
    std::stable_sort(insertions_.begin(), insertions_.end(),
                     [](const auto& a, const auto& b) { return a.before < b.before; });
    result_.program = moved.with(insertions_, left_out_);
    for (const auto& [id, tile] : tiles_) {
      if (tile.home) result_.program.tensor_born(*tile.home);
    }
    return std::move(result_);
  }

 private:
  template <class Fn>
  void for_each_tile(std::uint32_t i, Fn&& fn) const {
    program_.for_each_touched(program_[i], fn);
  }

  void pass(std::uint32_t i, Program& moved) {
    std::vector<Occupant*> touched;
    for_each_tile(i, [&](const isa::FieldInfo&, const isa::Tile& operand) {
      const auto it = tiles_.find(operand.tensor);
      if (it == tiles_.end() || operand.space != memory::Space::kSbuf) return;
      if (std::find(touched.begin(), touched.end(), &it->second) == touched.end())
        touched.push_back(&it->second);
    });
    if (touched.size() == 1 && make_later(i, *touched.front())) return;
    for (Occupant* tile : touched) {
      if (tile->resident) others_.erase({tile->next_use(), tile->id});
    }
    for (Occupant* tile : touched) {
      if (tile->resident) continue;
      find_place(*tile);
      if (tile->used > 0 && !written_anew(i, *tile)) bring_back(*tile, i);
    }
    move_operands(i, moved);
    for (Occupant* tile : touched) {
      note_content(i, *tile);
      ++tile->used;
      if (tile->next_use() != kNever)
        others_.insert({tile->next_use(), tile->id});
      else
        leave(*tile);
    }
  }

  // A load is made when the first instruction that takes its tile needs it.
  bool make_later(std::uint32_t i, Occupant& tile) {
    if (!loads_by_need_ || !is_load(i) || program_.name(i) || ordered_.contains(i)) return false;
    const bool anew = written_anew(i, tile);
    if (!anew && (tile.computed || tile.read || tile.loads.size() == kLoadsMost)) return false;
    if (anew) tile.loads.clear();
    tile.loads.push_back(i);
    tile.computed = tile.read = tile.saved = false;
    if (tile.resident) {
      others_.erase({tile.next_use(), tile.id});
      leave(tile);
    }
    ++tile.used;
    left_out_[i] = true;
    result_.loaded_again -= Call(program_, i).get<isa::Tile>("dst").bytes();
    return true;
  }

  void find_place(Occupant& tile) {
    std::optional<std::int64_t> offset = room_.place(tile.life->bytes);
    while (!offset && !others_.empty()) {
      give_way(longest_unneeded());
      offset = room_.place(tile.life->bytes);
    }
    // Its other operands alone leave a gap that is too small: they lie where they lie.
    tile.offset = offset.value_or(0);
    tile.resident = true;
    if (!offset) room_.occupy(0, tile.life->bytes);
  }

  void leave(Occupant& tile) {
    tile.resident = false;
    room_.release(tile.offset, tile.life->bytes);
  }

  // Of the tiles that the present instruction does not touch: the one that is needed again last, if
  // it can be one that was not used just before.
  Occupant& longest_unneeded() {
    const std::uint32_t recent = recently();
    for (auto it = others_.rbegin(); it != others_.rend(); ++it) {
      Occupant& tile = tiles_.at(it->second);
      if (tile.last_use() < recent) return tile;
    }
    return tiles_.at(others_.rbegin()->second);
  }

  // The instruction since which a certain part of the memory has been used.
  std::uint32_t recently() const {
    std::vector<const Occupant*> latest;
    for (const auto& [next, id] : others_) latest.push_back(&tiles_.at(id));
    std::sort(latest.begin(), latest.end(),
              [](const Occupant* a, const Occupant* b) { return a->last_use() > b->last_use(); });
    std::int64_t bytes = 0;
    for (const Occupant* tile : latest) {
      bytes += tile->life->bytes;
      if (bytes > room_.bytes() / kRecentPart) return tile->last_use() + 1;
    }
    return 0;
  }

  // The operands of an instruction are where their tiles are now.
  void move_operands(std::uint32_t i, Program& moved) const {
    const isa::InstructionType& type = program_.type(program_[i]);
    std::vector<std::byte> args = Call(program_, i).args();
    bool changed = false;
    isa::for_each_tile(type, args.data(), [&](const isa::FieldInfo&, const isa::Tile& operand) {
      const auto it = tiles_.find(operand.tensor);
      if (it == tiles_.end() || operand.space != memory::Space::kSbuf) return;
      const std::int64_t by = it->second.offset - program_.offset_at(operand.tensor, i);
      const_cast<isa::Tile&>(operand).offset += by;  // a copy of our own
      changed = changed || by != 0;
    });
    if (changed) moved.replace(i, type, program_[i].engine, args.data());
  }

  // Whether the instruction writes all of the tile and reads nothing of it.
  bool written_anew(std::uint32_t i, const Occupant& tile) const {
    std::int64_t written = 0;
    bool read = false;
    for_each_tile(i, [&](const isa::FieldInfo& field, const isa::Tile& operand) {
      if (operand.tensor != tile.id) return;
      read = read || field.access != isa::Access::kWrite;
      written += operand.bytes();
    });
    return !read && written >= tile.life->bytes * tile.life->partitions;
  }

  // What the tile holds once instruction i has run.
  void note_content(std::uint32_t i, Occupant& tile) {
    bool writes = false, reads = false;
    for_each_tile(i, [&](const isa::FieldInfo& field, const isa::Tile& operand) {
      if (operand.tensor != tile.id) return;
      writes = writes || isa::writes(field.access);
      reads = reads || field.access != isa::Access::kWrite;
    });
    tile.read = tile.read || reads;
    if (!writes) return;
    tile.saved = false;
    if (written_anew(i, tile)) {
      tile.loads.clear();
      tile.computed = false;
      tile.read = false;
    }
    tile.computed = tile.computed || !is_load(i) || tile.loads.size() == kLoadsMost;
    if (!tile.computed) tile.loads.push_back(i);
  }

  // Whether an instruction copies what nobody ever writes, so that it could be made again.
  bool is_load(std::uint32_t i) const {
    const isa::InstructionType& type = program_.type(program_[i]);
    if (type.info.name != "dma_copy") return false;
    int tiles = 0;
    bool fine = true;
    isa::for_each_tile(type, program_.args(program_[i]),
                       [&](const isa::FieldInfo& field, const isa::Tile& operand) {
                         ++tiles;
                         fine = fine && operand.indirection == 0;
                         if (isa::writes(field.access)) return;
                         fine = fine && !operand.on_chip() && !written_.contains(operand.tensor);
                       });
    return fine && tiles == 2;
  }

  void give_way(Occupant& tile) {
    others_.erase({tile.next_use(), tile.id});
    leave(tile);
    const bool written_next = tile.next_use() != kNever && written_anew(tile.next_use(), tile);
    if (!tile.computed || tile.saved || written_next) return;
    if (!tile.home) {
      tile.home = memory_.allocate_hbm(tile.life->name + ".spill",
                                       tile.life->bytes * tile.life->partitions);
    }
    insert(tile.last_use() + 1, program_[tile.last_use()].site, "spill of " + tile.life->name,
           Call("dma_copy").set("dst", home_of(tile)).set("src", bytes_of(tile)));
    tile.saved = true;
    result_.written += tile.life->bytes * tile.life->partitions;
  }

  void bring_back(Occupant& tile, std::uint32_t i) {
    const std::string name = "refill of " + tile.life->name;
    if (tile.computed) {
      insert(i, program_[i].site, name,
             Call("dma_copy").set("dst", bytes_of(tile)).set("src", home_of(tile)));
      result_.read += tile.life->bytes * tile.life->partitions;
      return;
    }
    for (const std::uint32_t load : tile.loads) {
      Call again(program_, load);
      auto dst = again.get<isa::Tile>("dst");
      dst.offset += tile.offset - program_.offset_at(tile.id, load);
      insert(i, program_[load].site, name, again.set("dst", dst));
      result_.loaded_again += dst.bytes();
    }
  }

  void insert(std::uint32_t before, std::uint32_t site, std::string name, const Call& call) {
    insertions_.push_back(
        {before, &call.type(), isa::Engine::kDma, site, call.args(), std::move(name)});
  }

  const Program& program_;
  memory::Memory& memory_;
  bool loads_by_need_;
  memory::Placement room_;
  std::map<std::uint32_t, Occupant> tiles_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> others_;  // resident: next use, tile
  std::set<std::uint32_t> written_;                           // tensors
  std::set<std::uint32_t> ordered_;                           // instructions
  std::vector<program::Insertion> insertions_;
  std::vector<bool> left_out_;
  Spilled result_;
};

}  // namespace

Spilled spilled(const Program& program, memory::Memory& memory, bool loads_by_need) {
  return Spills(program, memory, loads_by_need).run();
}

}  // namespace trnsim::core
