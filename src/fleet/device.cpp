#include "fleet/device.h"

#include <cmath>

namespace trnsim::fleet {

std::size_t Device::Hash::operator()(const Key& key) const {
  std::uint64_t hash = 0;
  for (const std::int64_t part : {key.a, key.b, key.c, key.d}) {
    hash ^= static_cast<std::uint64_t>(part);
    hash *= 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

template <class Fn>
double Device::remembered(Known& known, const Key& key, Fn time) {
  const auto it = known.find(key);
  if (it != known.end()) return it->second;
  return known.emplace(key, time()).first->second;
}

double Device::matmul(const Matmul& m, Precision precision) {
  const Key key{m.m, m.k, m.n, m.count * 4 + static_cast<int>(precision)};
  return remembered(matmuls_, key, [&] { return time(m, precision); });
}

double Device::pass(const Pass& p, Precision precision) {
  const auto quarter_bytes = static_cast<std::int64_t>(std::lround(4 * p.bytes_in)) * 4096 +
                             static_cast<std::int64_t>(std::lround(4 * p.bytes_out));
  const Key key{static_cast<std::int64_t>(p.elements), quarter_bytes, p.arithmetic,
                p.functions * 4 + static_cast<int>(precision)};
  return remembered(passes_, key, [&] { return time(p, precision); });
}

double Device::attention(const AttentionWork& w, const Layout& layout, bool backward) {
  if (layout.attention == AttentionKernel::kFlash) {
    const std::int64_t bits = static_cast<std::int64_t>(w.causal) + (backward ? 2 : 0) +
                              4 * static_cast<int>(layout.precision) + 16 * w.window;
    const Key key{w.count, w.queries * 16777216 + w.keys, w.head_dim * 4096 + w.value_dim, bits};
    return remembered(cores_, key, [&] { return flash(w, backward, layout.precision); });
  }
  const double width = tensor_bytes(layout.precision);
  const double scores =
      static_cast<double>(w.count) * static_cast<double>(w.queries) * static_cast<double>(w.keys);
  const auto product = [&](std::int64_t m, std::int64_t k, std::int64_t n) {
    return matmul({m, k, n, w.count, Part::kAttention}, layout.precision);
  };
  const auto over_scores = [&](double in, double out, int arithmetic, int functions) {
    return pass({scores, in, out, arithmetic, functions, Part::kAttention}, layout.precision);
  };
  double sum = 0;
  if (!backward) {
    sum += product(w.queries, w.head_dim, w.keys) + product(w.queries, w.keys, w.value_dim);
    sum += over_scores(width, width, 4, 1);  // scale, mask, maximum, sum and division
    if (w.dropout) sum += over_scores(width, width + 1, 1, 0);
  } else {
    sum += product(w.queries, w.value_dim, w.keys) + product(w.queries, w.keys, w.head_dim);
    sum += product(w.keys, w.queries, w.head_dim) + product(w.keys, w.queries, w.value_dim);
    sum += over_scores(2 * width, width, 4, 0);
    if (w.dropout) sum += over_scores(width + 1, width, 1, 0);
  }
  return sum;
}

}  // namespace trnsim::fleet
