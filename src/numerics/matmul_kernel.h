// The blocked matrix product, included by matmul.cpp once per instruction set, inside a namespace that defines Vector,
// kLanes, kRows and the functions load, store, broadcast, fma, add and canonical. No include guard, on purpose.
//
// A tile of R x 2 vectors of the output stays in registers while k runs. Both operands are copied into panels that are
// read front to back: rows of power-of-two length would otherwise fall into a few cache sets.

constexpr int kColumns = 2 * kLanes;

template <int R>
void tile(const MatmulJob& job, const float* a, const float* b, float* out, int columns) {
  Vector sum[R][2];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = broadcast(0.0f);
  for (int k = 0; k < job.K; ++k) {
    const Vector left = load(b);
    const Vector right = load(b + kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const Vector scale = broadcast(a[r]);
      sum[r][0] = fma(scale, left, sum[r][0]);
      sum[r][1] = fma(scale, right, sum[r][1]);
    }
    a += R;
    b += kColumns;
  }
  // A narrow last panel goes through a full-width row.
  alignas(64) float row[kColumns];
#pragma GCC unroll 16
  for (int r = 0; r < R; ++r, out += job.ldo) {
    float* target = out;
    if (columns < kColumns) {
      target = row;
      if (job.accumulate) std::memcpy(row, out, static_cast<std::size_t>(columns) * sizeof(float));
    }
    for (int half = 0; half < 2; ++half) {
      float* place = target + half * kLanes;
      store(place, canonical(job.accumulate ? add(load(place), sum[r][half]) : sum[r][half]));
    }
    if (columns < kColumns) std::memcpy(out, row, static_cast<std::size_t>(columns) * sizeof(float));
  }
}

// Full tiles, but two equal ones instead of a full and a thin one at the end: a thin one cannot hide the latency.
constexpr int tile_rows(int left) {
  if (left <= kRows) return left;
  return left >= 2 * kRows ? kRows : (left + 1) / 2;
}

template <int R>
void tile_of(int rows, const MatmulJob& job, const float* a, const float* b, float* out, int columns) {
  if (rows == R) {
    tile<R>(job, a, b, out, columns);
  } else if constexpr (R > 1) {
    tile_of<R - 1>(rows, job, a, b, out, columns);
  }
}

inline void run(const MatmulJob& job) {
  const auto depth = static_cast<std::size_t>(job.K);
  float* a_panels = scratch(0, depth * static_cast<std::size_t>(job.M));
  float* b_panel = scratch(1, depth * kColumns);
  for (int m = 0, rows = 0; m < job.M; m += rows) {
    rows = tile_rows(job.M - m);
    float* panel = a_panels + depth * static_cast<std::size_t>(m);
    for (int k = 0; k < job.K; ++k) {
      const float* from = job.stationary + k * job.lds + m;
      if (rows == kRows) {  // a copy of known length is a few moves
        std::memcpy(panel + k * kRows, from, kRows * sizeof(float));
      } else {
        for (int r = 0; r < rows; ++r) panel[k * rows + r] = from[r];
      }
    }
  }
  for (int n = 0; n < job.N; n += kColumns) {
    const int columns = job.N - n < kColumns ? job.N - n : kColumns;
    for (int k = 0; k < job.K; ++k) {
      const float* from = job.moving + k * job.ldm + n;
      float* to = b_panel + k * kColumns;
      if (columns == kColumns) {
        store(to, load(from));
        store(to + kLanes, load(from + kLanes));
      } else {
        for (int c = 0; c < kColumns; ++c) to[c] = c < columns ? from[c] : 0.0f;
      }
    }
    for (int m = 0, rows = 0; m < job.M; m += rows) {
      rows = tile_rows(job.M - m);
      tile_of<kRows>(rows, job, a_panels + depth * static_cast<std::size_t>(m), b_panel, job.out + m * job.ldo + n,
                     columns);
    }
  }
}
