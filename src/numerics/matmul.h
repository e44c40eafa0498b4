// The arithmetic of the PE array: out[m][n] = sum over k of stationary[k][m] * moving[k][n].
//
// Each output element is a chain of fused multiply-adds in fp32 over ascending k that starts from
// +0, one rounding per step, as in a column of a systolic array; with `accumulate` the finished
// chain is added to the old value by one more fp32 addition (PSUM's adder). NaN results are the
// canonical NaN. Every kernel gives the same bits on every host. Left out: how hardware splits fp32
// operands into passes, and anything about PSUM addressing or time.
#pragma once

#include <cstddef>

#include "numerics/dtype.h"

namespace trnsim::numerics {

// stationary is K x M, moving is K x N, out is M x N; row-major, `ld...` elements from row to row.
void matmul_accumulate(const float* stationary, std::ptrdiff_t lds, const float* moving,
                       std::ptrdiff_t ldm, float* out, std::ptrdiff_t ldo, int K, int M, int N,
                       bool accumulate);

// An operand as it is stored, decoded on the way in. Not for packed types.
struct MatmulOperand {
  Dtype type;
  const void* data;
  std::ptrdiff_t row_stride_bytes;      // from k to k + 1
  std::ptrdiff_t element_stride_bytes;  // from m to m + 1, or n to n + 1
};

void matmul_accumulate(const MatmulOperand& stationary, const MatmulOperand& moving, float* out,
                       std::ptrdiff_t ldo, int K, int M, int N, bool accumulate);

// The kernels, for tests and benchmarks; the functions above pick the widest that the host has.
enum class MatmulKernel { kGeneric, kAvx2, kAvx512 };
bool is_available(MatmulKernel kernel);
void matmul_accumulate_with(MatmulKernel kernel, const float* stationary, std::ptrdiff_t lds,
                            const float* moving, std::ptrdiff_t ldm, float* out, std::ptrdiff_t ldo,
                            int K, int M, int N, bool accumulate);

}  // namespace trnsim::numerics
