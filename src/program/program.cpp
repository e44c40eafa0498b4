#include "program/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

namespace trnsim::program {

std::string place(const Site& site) {
  if (site.file.empty()) return {};
  return fmt::format("{}:{}", site.file.substr(site.file.find_last_of('/') + 1), site.line);
}

std::string Program::place(std::uint32_t site) const {
  return site < sites_.size() ? program::place(sites_[site]) : std::string{};
}

std::uint32_t Program::intern(const Site& site) {
  const auto [it, added] = site_index_.try_emplace(site, static_cast<std::uint32_t>(sites_.size()));
  if (added) sites_.push_back(site);
  return it->second;
}

void Program::append(const isa::InstructionType& type, isa::Engine engine, std::uint32_t site,
                     const void* args) {
  // A line that repeats an instruction on the same tiles shares its arguments: loops grow with what
  // differs.
  if (site >= last_args_.size()) last_args_.resize(site + 1, {kNoOpcode, 0});
  LastArgs& last = last_args_[site];
  if (last.opcode != type.opcode ||
      std::memcmp(arguments_.data() + last.at, args, type.size()) != 0) {
    // Every struct starts at a multiple of eight, the strictest alignment among the arguments.
    last = {type.opcode, (arguments_.size() + 7) / 8 * 8};
    const auto* bytes = static_cast<const std::byte*>(args);
    arguments_.resize(last.at);
    arguments_.insert(arguments_.end(), bytes, bytes + type.size());
  }
  instructions_.push_back({type.opcode, engine, site, last.at});
}

void Program::replace(std::size_t i, const isa::InstructionType& type, isa::Engine engine,
                      const void* args) {
  const auto* bytes = static_cast<const std::byte*>(args);
  const std::uint64_t at = (arguments_.size() + 7) / 8 * 8;
  arguments_.resize(at);
  arguments_.insert(arguments_.end(), bytes, bytes + type.size());
  instructions_[i] = {type.opcode, engine, instructions_[i].site, at};
}

Program Program::first(std::size_t most) const {
  Program part;
  for (const Site& site : sites_) part.intern(site);
  for (std::size_t i = 0; i < std::min(most, size()); ++i) {
    const Instruction& instruction = instructions_[i];
    part.append(type(instruction), instruction.engine, instruction.site, args(instruction));
    for (const std::uint32_t producer : producers(static_cast<std::uint32_t>(i)))
      part.depend(static_cast<std::uint32_t>(i), producer);
  }
  part.indirections_ = indirections_;
  return part;
}

Program Program::with(std::span<const Insertion> insertions,
                      const std::vector<bool>& left_out) const {
  Program result;
  result.dialect = dialect;
  for (const Site& site : sites_) result.intern(site);
  result.indirections_ = indirections_;
  std::vector<std::uint64_t> place_of(size() + 1);  // in the result: of each, or of the next one
  auto next = insertions.begin();
  for (std::size_t i = 0; i < size(); ++i) {
    for (; next != insertions.end() && next->before == i; ++next) {
      result.append(*next->type, next->engine, next->site, next->args.data());
      result.name_last(next->name);
    }
    place_of[i] = result.size();
    if (left_out[i]) continue;
    const Instruction& instruction = instructions_[i];
    result.append(type(instruction), instruction.engine, instruction.site, args(instruction));
  }
  place_of[size()] = result.size();
  const auto moved = [&](std::uint64_t i) { return i <= size() ? place_of[i] : i; };
  for (const auto& [i, name] : names_) result.give_name(moved(i), name);
  for (const auto& [consumer, producers] : producers_) {
    for (const std::uint32_t producer : producers) {
      result.depend(static_cast<std::uint32_t>(moved(consumer)),
                    static_cast<std::uint32_t>(moved(producer)));
    }
  }
  for (const Stretch& stretch : in_order_)
    result.keep_in_order({moved(stretch.first), moved(stretch.last)});
  for (const Round& round : rounds_) {
    result.add_round(
        {{moved(round.instructions.first), moved(round.instructions.last)}, round.before});
  }
  for (auto [id, life] : tensors_) {
    life.born = moved(life.born);
    life.freed = moved(life.freed);
    result.tensor_lived(id, std::move(life));
  }
  return result;
}

std::int64_t Program::offset_at(std::uint32_t tensor, std::size_t i) const {
  const auto moves = moves_.find(tensor);
  if (moves != moves_.end()) {
    for (const Move& move : moves->second) {
      if (i < move.at) return move.from;
    }
  }
  return tensors_.at(tensor).offset;
}

const std::string* Program::name(std::size_t i) const {
  const auto it = names_.find(i);
  return it == names_.end() ? nullptr : &it->second;
}

void Program::define(std::uint16_t id, const memory::Indirection& indirection) {
  if (id >= indirections_.size()) indirections_.resize(id + 1);
  indirections_[id] = indirection;
}

void Program::depend(std::uint32_t consumer, std::uint32_t producer) {
  std::vector<std::uint32_t>& list = producers_[consumer];
  if (std::find(list.begin(), list.end(), producer) == list.end()) list.push_back(producer);
}

std::span<const std::uint32_t> Program::producers(std::uint32_t consumer) const {
  const auto it = producers_.find(consumer);
  if (it == producers_.end()) return {};
  return it->second;
}

void Program::keep_in_order(Stretch stretch) {
  if (stretch.last - stretch.first > 1) in_order_.push_back(stretch);
}

std::uint32_t Program::add_round(const Round& round) {
  rounds_.push_back(round);
  return static_cast<std::uint32_t>(rounds_.size() - 1);
}

void Program::tensor_born(const memory::Allocation& allocation) {
  constexpr auto kAlive = ~std::uint64_t{0};
  const auto [it, is_new] = tensors_.emplace(
      allocation.id, TensorLife{allocation.name, allocation.space, allocation.partitions,
                                allocation.offset, allocation.bytes, size(), kAlive});
  if (is_new) return;
  // It had given way to another, and is back.
  moves_[allocation.id].push_back({size(), it->second.offset});
  it->second.offset = allocation.offset;
  it->second.freed = kAlive;
}

void Program::tensor_freed(std::uint32_t id) {
  const auto it = tensors_.find(id);
  if (it != tensors_.end()) it->second.freed = size();
}

}  // namespace trnsim::program
