#include "memory/access_pattern.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trnsim::memory {
namespace {

constexpr std::size_t kMaxRuns = 4096;

bool partitions_overlap(const AccessPattern& a, const AccessPattern& b) {
  return a.start_partition < b.start_partition + b.partitions() &&
         b.start_partition < a.start_partition + a.partitions();
}

bool dense(const AccessPattern& pattern, const Walk& walk) {
  return walk.contiguous(pattern.element_bytes());
}

// Both patterns walk the same grid: compare their index ranges dimension by dimension. Valid while
// neither wraps around a dimension of the grid; `decided` tells whether it was.
bool overlaps_on_same_grid(const AccessPattern& a, const Walk& wa, const AccessPattern& b,
                           const Walk& wb, bool& decided) {
  decided = false;
  if (wa.dims != wb.dims) return true;
  std::int64_t rest_a = a.offset, rest_b = b.offset;
  bool overlap = true;
  for (int d = 0; d < wa.dims; ++d) {
    const std::int64_t stride = wa.strides[d];
    if (stride != wb.strides[d] || stride <= 0) return true;
    const std::int64_t ia = rest_a / stride, ib = rest_b / stride;
    rest_a %= stride;
    rest_b %= stride;
    if (d > 0) {
      const std::int64_t period = wa.strides[d - 1] / stride;
      if (wa.strides[d - 1] % stride != 0 || ia + wa.sizes[d] > period || ib + wb.sizes[d] > period)
        return true;
    }
    overlap = overlap && ia < ib + wb.sizes[d] && ib < ia + wa.sizes[d];
  }
  if (a.element_bytes() != b.element_bytes() || rest_a != rest_b) return true;
  decided = true;
  return overlap;
}

using Runs = std::vector<std::pair<std::int64_t, std::int64_t>>;

bool collect_runs(const AccessPattern& pattern, const Walk& walk, Runs& runs) {
  const int bytes = pattern.element_bytes();
  const bool inner_dense = walk.inner_size() == 1 || walk.inner_stride() == bytes;
  std::int64_t count = inner_dense ? 1 : walk.inner_size();
  for (int d = 0; d + 1 < walk.dims; ++d) count *= walk.sizes[d];
  if (count > static_cast<std::int64_t>(kMaxRuns)) return false;
  for_each_run(walk, pattern.offset, [&](std::int64_t start) {
    if (inner_dense) {
      runs.emplace_back(start, start + walk.inner_size() * bytes);
    } else {
      for (std::int64_t i = 0; i < walk.inner_size(); ++i) {
        runs.emplace_back(start + i * walk.inner_stride(), start + i * walk.inner_stride() + bytes);
      }
    }
  });
  std::sort(runs.begin(), runs.end());
  return true;
}

}  // namespace

const char* space_name(Space space) {
  switch (space) {
    case Space::kSbuf:
      return "SBUF";
    case Space::kPsum:
      return "PSUM";
    case Space::kHbm:
      return "HBM";
  }
  return "?";
}

std::int64_t AccessPattern::inner_stride() const {
  for (int i = dims - 1; i >= (on_chip() ? 1 : 0); --i) {
    if (sizes[i] > 1) return strides[i];
  }
  return element_bytes();
}

Walk walk_of(const AccessPattern& pattern) {
  Walk walk;
  for (int i = pattern.on_chip() ? 1 : 0; i < pattern.dims; ++i) {
    const std::int64_t size = pattern.sizes[i], stride = pattern.strides[i];
    if (size == 1) continue;
    const int last = walk.dims - 1;
    if (walk.dims > 0 && walk.strides[last] == stride * size) {
      walk.sizes[last] *= size;
      walk.strides[last] = stride;
    } else {
      walk.sizes[walk.dims] = size;
      walk.strides[walk.dims] = stride;
      ++walk.dims;
    }
  }
  if (walk.dims == 0) {
    walk.dims = 1;
    walk.sizes[0] = 1;
    walk.strides[0] = pattern.element_bytes();
  }
  return walk;
}

Extent extent_of(const AccessPattern& pattern) {
  Extent extent{pattern.offset, pattern.offset + pattern.element_bytes()};
  for (int i = pattern.on_chip() ? 1 : 0; i < pattern.dims; ++i) {
    const std::int64_t reach = pattern.strides[i] * (pattern.sizes[i] - 1);
    (reach < 0 ? extent.low : extent.high) += reach;
  }
  return extent;
}

bool overlaps(const AccessPattern& a, const AccessPattern& b) {
  if (a.space != b.space) return false;
  if (a.on_chip() ? !partitions_overlap(a, b) : a.tensor != b.tensor) return false;
  const Extent ea = extent_of(a), eb = extent_of(b);
  if (ea.low >= eb.high || eb.low >= ea.high) return false;
  const Walk wa = walk_of(a), wb = walk_of(b);
  if (dense(a, wa) && dense(b, wb)) return true;
  bool decided = false;
  const bool grid = overlaps_on_same_grid(a, wa, b, wb, decided);
  if (decided) return grid;
  Runs ra, rb;
  if (!collect_runs(a, wa, ra) || !collect_runs(b, wb, rb)) return true;
  for (std::size_t i = 0, j = 0; i < ra.size() && j < rb.size();) {
    if (ra[i].first < rb[j].second && rb[j].first < ra[i].second) return true;
    (ra[i].second <= rb[j].second ? i : j)++;
  }
  return false;
}

}  // namespace trnsim::memory
