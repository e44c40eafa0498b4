#include "numerics/matmul.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "numerics/convert.h"
#include "numerics/target.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace trnsim::numerics {

namespace {

struct MatmulJob {
  const float* stationary;
  std::ptrdiff_t lds;
  const float* moving;
  std::ptrdiff_t ldm;
  float* out;
  std::ptrdiff_t ldo;
  int K, M, N;
  bool accumulate;
};

struct AlignedDelete {
  void operator()(float* p) const { ::operator delete[](p, std::align_val_t{64}); }
};

struct Buffer {
  std::unique_ptr<float[], AlignedDelete> data;
  std::size_t size = 0;
};

// Panels and decoded operands of this thread, kept between calls.
float* scratch(int which, std::size_t size) {
  thread_local Buffer buffers[4];
  Buffer& buffer = buffers[which];
  if (size > buffer.size) {
    buffer.data.reset(
        static_cast<float*>(::operator new[](size * sizeof(float), std::align_val_t{64})));
    buffer.size = size;
  }
  return buffer.data.get();
}

constexpr float kNan = __builtin_nanf("");

#if defined(__x86_64__)
// Everything up to the matching pop is compiled for these instructions and reached only after
// asking the host.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,fma")
#endif
namespace avx512 {
using Vector = __m512;
constexpr int kLanes = 16;
constexpr int kRows = 12;
inline Vector load(const float* p) { return _mm512_loadu_ps(p); }
inline void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
inline Vector broadcast(float f) { return _mm512_set1_ps(f); }
inline Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
inline Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
inline Vector canonical(Vector v) {
  return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), v, _mm512_set1_ps(kNan));
}
#include "numerics/matmul_kernel.inc"
}  // namespace avx512
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
namespace avx2 {
using Vector = __m256;
constexpr int kLanes = 8;
constexpr int kRows = 6;
inline Vector load(const float* p) { return _mm256_loadu_ps(p); }
inline void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
inline Vector broadcast(float f) { return _mm256_set1_ps(f); }
inline Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
inline Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
inline Vector canonical(Vector v) {
  return _mm256_blendv_ps(v, _mm256_set1_ps(kNan), _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}
#include "numerics/matmul_kernel.inc"
}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

// fmaf is exact by definition, in hardware or (slowly) in the C library.
namespace generic {
constexpr int kLanes = 4;
constexpr int kRows = 4;
struct Vector {
  float lane[kLanes];
};
inline Vector load(const float* p) { return {{p[0], p[1], p[2], p[3]}}; }
inline void store(float* p, Vector v) { std::memcpy(p, v.lane, sizeof v.lane); }
inline Vector broadcast(float f) { return {{f, f, f, f}}; }
inline Vector fma(Vector a, Vector b, Vector c) {
  for (int i = 0; i < kLanes; ++i) c.lane[i] = __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]);
  return c;
}
inline Vector add(Vector a, Vector b) {
  for (int i = 0; i < kLanes; ++i) a.lane[i] += b.lane[i];
  return a;
}
inline Vector canonical(Vector v) {
  for (float& lane : v.lane) lane = lane != lane ? kNan : lane;
  return v;
}
#include "numerics/matmul_kernel.inc"
}  // namespace generic

using Run = void (*)(const MatmulJob&);

Run kernel_function(MatmulKernel kernel) {
#if defined(__x86_64__)
  if (kernel == MatmulKernel::kAvx512) return avx512::run;
  if (kernel == MatmulKernel::kAvx2) return avx2::run;
#endif
  (void)kernel;
  return generic::run;
}

Run best_kernel() {
  for (MatmulKernel kernel : {MatmulKernel::kAvx512, MatmulKernel::kAvx2}) {
    if (is_available(kernel)) return kernel_function(kernel);
  }
  return generic::run;
}

// Columns of a stored operand that are decoded at a time: they stay in the second-level cache.
constexpr int kDecodedColumns = 256;

float* decoded(const MatmulOperand& operand, int which, int K, int first, int count) {
  float* values = scratch(which, static_cast<std::size_t>(K) * static_cast<std::size_t>(count));
  const auto* data =
      static_cast<const unsigned char*>(operand.data) + first * operand.element_stride_bytes;
  for (int k = 0; k < K; ++k) {
    to_float(operand.type, data + k * operand.row_stride_bytes, operand.element_stride_bytes,
             values + static_cast<std::ptrdiff_t>(k) * count, static_cast<std::size_t>(count));
  }
  return values;
}

}  // namespace

bool is_available(MatmulKernel kernel) {
#if defined(__x86_64__)
  if (kernel == MatmulKernel::kAvx512) return __builtin_cpu_supports("avx512f");
  if (kernel == MatmulKernel::kAvx2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
  return kernel == MatmulKernel::kGeneric;
}

void matmul_accumulate_with(MatmulKernel kernel, const float* stationary, std::ptrdiff_t lds,
                            const float* moving, std::ptrdiff_t ldm, float* out, std::ptrdiff_t ldo,
                            int K, int M, int N, bool accumulate) {
  kernel_function(kernel)({stationary, lds, moving, ldm, out, ldo, K, M, N, accumulate});
}

void matmul_accumulate(const float* stationary, std::ptrdiff_t lds, const float* moving,
                       std::ptrdiff_t ldm, float* out, std::ptrdiff_t ldo, int K, int M, int N,
                       bool accumulate) {
  static const Run run = best_kernel();
  run({stationary, lds, moving, ldm, out, ldo, K, M, N, accumulate});
}

void matmul_accumulate(const MatmulOperand& stationary, const MatmulOperand& moving, float* out,
                       std::ptrdiff_t ldo, int K, int M, int N, bool accumulate) {
  const float* weights = decoded(stationary, 2, K, 0, M);
  for (int n = 0; n < N; n += kDecodedColumns) {
    const int columns = std::min(kDecodedColumns, N - n);
    const float* values = decoded(moving, 3, K, n, columns);
    matmul_accumulate(weights, M, values, columns, out + n, ldo, K, M, columns, accumulate);
  }
}

}  // namespace trnsim::numerics
