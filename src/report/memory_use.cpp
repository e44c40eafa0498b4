#include "report/memory_use.h"

#include <algorithm>
#include <tuple>

namespace trnsim::report {
namespace {

using program::TensorLife;

struct Event {
  std::int64_t when;
  bool begins;  // at one instant, what ends goes first
  const TensorLife* tensor;
};

template <class Fn>
std::int64_t sweep(std::vector<Event>& events, Fn&& at_each_change) {
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.when, a.begins) < std::tuple(b.when, b.begins);
  });
  Coverage coverage;
  std::int64_t peak = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TensorLife& tensor = *events[i].tensor;
    events[i].begins ? coverage.add(tensor.offset, tensor.bytes)
                     : coverage.remove(tensor.offset, tensor.bytes);
    if (i + 1 < events.size() && events[i + 1].when == events[i].when) continue;
    peak = std::max(peak, coverage.bytes());
    at_each_change(events[i].when, coverage.bytes());
  }
  return peak;
}

}  // namespace

void Coverage::split(std::int64_t at) {
  const auto next = tensors_from_.upper_bound(at);
  const int count = next == tensors_from_.begin() ? 0 : std::prev(next)->second;
  tensors_from_.try_emplace(at, count);
}

void Coverage::change(std::int64_t offset, std::int64_t bytes, int by) {
  if (bytes <= 0) return;
  split(offset);
  split(offset + bytes);
  const auto first = tensors_from_.find(offset), last = tensors_from_.find(offset + bytes);
  for (auto it = first; it != last; ++it) {
    const std::int64_t length = std::next(it)->first - it->first;
    if (by > 0 && it->second == 0) covered_ += length;
    it->second += by;
    if (by < 0 && it->second == 0) covered_ -= length;
  }
  // Neighbours with equal counts are one stretch; without this the map would grow with the number
  // of tensors.
  const auto before = first == tensors_from_.begin() ? 0 : std::prev(first)->second;
  int previous = before;
  for (auto it = first; it != tensors_from_.end();) {
    const bool past = it->first >= offset + bytes;
    const int count = it->second;
    it = count == previous ? tensors_from_.erase(it) : std::next(it);
    previous = count;
    if (past) break;
  }
}

std::int64_t peak_use(const program::Program& program, memory::Space space) {
  std::vector<Event> events;
  for (const auto& [id, tensor] : program.tensors()) {
    if (tensor.space != space || tensor.freed <= tensor.born) continue;
    const auto end = std::min<std::uint64_t>(tensor.freed, program.size());
    if (end < tensor.born) continue;
    events.push_back({static_cast<std::int64_t>(tensor.born), true, &tensor});
    // One that lives to the end is still there when the last one comes.
    events.push_back(
        {static_cast<std::int64_t>(tensor.freed > program.size() ? end + 1 : end), false, &tensor});
  }
  return sweep(events, [](std::int64_t, std::int64_t) {});
}

std::int64_t largest_gap(const program::Program& program, memory::Space space,
                         std::int64_t capacity) {
  std::vector<std::pair<std::int64_t, std::int64_t>> taken;
  for (const auto& [id, tensor] : program.tensors()) {
    if (tensor.space == space) taken.emplace_back(tensor.offset, tensor.offset + tensor.bytes);
  }
  taken.emplace_back(capacity, capacity);
  std::sort(taken.begin(), taken.end());
  std::int64_t largest = 0, reached = 0;
  for (const auto& [from, to] : taken) {
    largest = std::max(largest, std::min(from, capacity) - reached);
    reached = std::max(reached, to);
  }
  return largest;
}

std::map<std::uint32_t, TimeSpan> lifetimes(const Run& run) {
  std::map<std::uint32_t, TimeSpan> touched;
  const program::Program& program = *run.program;
  for (std::size_t i = 0; i < program.size(); ++i) {
    const timing::Entry& entry = run.timeline->entries[i];
    program.for_each_touched(program[i], [&](const isa::FieldInfo&, const isa::Tile& tile) {
      const auto [it, added] = touched.try_emplace(tile.tensor, TimeSpan{entry.start, entry.end});
      it->second.from = std::min(it->second.from, entry.start);
      it->second.to = std::max(it->second.to, entry.end);
    });
  }
  return touched;
}

std::vector<Use> use_over_time(const Run& run, memory::Space space) {
  std::vector<Event> events;
  for (const auto& [id, when] : lifetimes(run)) {
    const auto life = run.program->tensors().find(id);
    if (life == run.program->tensors().end() || life->second.space != space) continue;
    events.push_back({when.from.count, true, &life->second});
    events.push_back({when.to.count, false, &life->second});
  }
  std::vector<Use> use;
  sweep(events, [&](std::int64_t when, std::int64_t bytes) { use.push_back({{when}, bytes}); });
  return use;
}

}  // namespace trnsim::report
