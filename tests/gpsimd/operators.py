"""Sources of operators in C++ that the tests compile, once each in a session."""

import re

HEAD = """#include <stdint.h>
#include <torch/torch.h>
#include <neuron/neuron-utils.hpp>
"""

SHAPE_HEAD = """#include <torch/torch.h>
#include "torchneuron/register.h"
torch::Tensor like(torch::Tensor t) { return torch::empty(t.sizes(), t.options()); }
"""

# ---- Arithmetic, by each kind of accessor.

COMPUTE = HEAD + """
torch::Tensor by_element(const torch::Tensor& t) {
  torch::Tensor out = torch::empty(t.sizes(), torch::kFloat);
  auto in_acc = t.accessor<float, 3>();
  auto out_acc = out.accessor<float, 3>();
  for (int64_t i = 0; i < t.size(0); i++)
    for (int64_t j = 0; j < in_acc.size(1); j++)
      for (int64_t k = 0; k < t.sizes()[2]; k++) out_acc[i][j][k] = 2 * in_acc[i][j][k] + 1;
  return out;
}

torch::Tensor by_stream(const torch::Tensor& a, const torch::Tensor& b, double factor) {
  torch::Tensor out = torch::empty(a.sizes(), torch::kFloat);
  auto a_in = a.read_stream_accessor<float>();
  auto b_in = b.read_stream_accessor<float>();
  auto to = out.write_stream_accessor<float>();
  for (int64_t i = 0; i < a.numel(); i++) to.write(a_in.read() + factor * b_in.read());
  return out;
}

torch::Tensor by_tcm(const torch::Tensor& t, int64_t block) {
  torch::Tensor out = get_dst_tensor();
  float* buffer = (float*)torch::neuron::tcm_malloc(sizeof(float) * block);
  auto from = t.tcm_accessor();
  auto to = out.tcm_accessor();
  for (int64_t i = 0; i < t.numel(); i += block) {
    int64_t n = t.numel() - i < block ? t.numel() - i : block;
    from.tensor_to_tcm<float>(buffer, i, n);
    for (int64_t j = 0; j < n; j++) buffer[j] = -buffer[j];
    to.tcm_to_tensor<float>(buffer, i, n);
  }
  torch::neuron::tcm_free(buffer);
  return out;
}

torch::Tensor of_whole(const torch::Tensor& t, int64_t what) {
  torch::Tensor a = t;
  switch (what) {
    case 0: return torch::abs(a);
    case 1: return torch::ceil(a);
    case 2: return torch::floor(a);
    case 3: return torch::sin(a);
    case 4: return torch::cos(a);
    case 5: return torch::tan(a);
    case 6: return torch::log(a);
    case 7: return torch::log2(a);
    case 8: return torch::log10(a);
    case 9: return torch::exp(a);
    case 10: return torch::pow(a, 2);
    case 11: return torch::pow(2, a);
    case 12: return torch::clamp(a, 0.5, 2);
    case 13: return torch::add(a, 3, 2);
    case 14: return torch::sub(a, 3);
    case 15: return torch::mul(a, 3);
    case 16: return torch::div(a, 4);
    case 17: return torch::bitwise_not(a);
    case 18: return torch::bitwise_and(a, 6);
    case 19: return torch::bitwise_or(5, a);
  }
  return torch::empty(a.sizes(), a.options()).fill_(7);
}

torch::Tensor of_pairs(const torch::Tensor& a, const torch::Tensor& b, int64_t what) {
  torch::Tensor out = torch::empty(a.sizes(), a.options());
  switch (what) {
    case 0: return torch::add_out(out, a, b);
    case 1: return torch::add(a, b, 2);
    case 2: return torch::sub_out(out, a, b, 3);
    case 3: return torch::mul_out(out, a, b);
    case 4: return torch::div(a, b);
    case 5: return torch::pow_out(out, a, b);
    case 6: return torch::bitwise_and_out(out, a, b);
    case 7: return torch::bitwise_or(a, b);
  }
  return out;
}

torch::Tensor unit(const torch::Tensor& t, const torch::Scalar& value) {
  if (t.numel() == 0) return torch::full({2, 3}, value, torch::kInt);
  return torch::eye(t.size(0), t.size(-1), torch::dtype(torch::kHalf));
}

template <class T>
torch::Tensor doubled(const torch::Tensor& t) {
  torch::Tensor out = torch::empty(t.sizes(), t.options());
  auto from = t.read_stream_accessor<T>();
  auto to = out.accessor<T, 1>();
  for (int64_t i = 0; i < t.numel(); i++) {
    T x = from.read();
    x += x;
    to[i] = x;
  }
  return out;
}

torch::Tensor of_dtype(const torch::Tensor& t) {
  switch (t.scalar_type()) {
    case torch::kFloat: return doubled<float>(t);
    case torch::kHalf: return doubled<torch::Half>(t);
    case torch::kBFloat16: return doubled<c10::BFloat16>(t);
    case torch::kInt: return doubled<int32_t>(t);
    case torch::kShort: return doubled<int16_t>(t);
    case torch::kChar: return doubled<int8_t>(t);
    default: return doubled<uint8_t>(t);
  }
}

static int64_t calls = 0;
torch::Tensor counted(const torch::Tensor& t) {
  printf("call %d\\n", (int)++calls);
  return torch::full(t.sizes(), (int)calls, torch::kInt);
}
"""

SHAPES = SHAPE_HEAD + """
torch::Tensor by_stream_shape(torch::Tensor a, torch::Tensor b, double) { return like(a); }
torch::Tensor numbered_shape(torch::Tensor t, int64_t) { return like(t); }
torch::Tensor pairs_shape(torch::Tensor a, torch::Tensor, int64_t) { return like(a); }
torch::Tensor unit_shape(torch::Tensor t, torch::Scalar) {
  if (t.numel() == 0) return torch::zeros({2, 3}, torch::kInt);
  return torch::zeros({t.size(0), t.size(1)}, torch::kHalf);
}
torch::Tensor counted_shape(torch::Tensor t) { return torch::zeros(t.sizes(), torch::kInt); }

NEURON_LIBRARY(arithmetic, m) {
  m.def("by_element", &like, "by_element");
  m.def("by_stream", &by_stream_shape, "by_stream");
  m.def("by_tcm", &numbered_shape, "by_tcm");
  m.def("of_whole", &numbered_shape, "of_whole");
  m.def("of_pairs", &pairs_shape, "of_pairs");
  m.def("unit", &unit_shape, "unit");
  m.def("of_dtype", &like, "of_dtype");
  m.def("counted", &counted_shape, "counted");
}
"""

# ---- Mistakes: each case ends with the rule that its line breaks.

WRONG = HEAD + """
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <stdexcept>
int deep(int n) {
  volatile char room[4096];
  room[n % 4096] = 1;                                                        // of 24: gpsimd.crash
  return deep(n + 1) + room[0];
}

torch::Tensor wrong(const torch::Tensor& t, int64_t what) {
  torch::Tensor out = torch::empty(t.sizes(), torch::kFloat);
  auto in = t.accessor<float, 2>();
  auto acc = out.accessor<float, 2>();
  const int64_t rows = t.size(0), columns = t.size(1);
  float* tcm = (float*)torch::neuron::tcm_malloc(64 * sizeof(float));
  auto from = t.tcm_accessor();
  torch::Tensor none, wide = torch::ones({65}, torch::kFloat);
  torch::Tensor copy = t;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++) acc[i][j] = 0;
  switch (what) {
    case 0: acc[rows][0] = 1; break;                                         // gpsimd.bounds
    case 1: acc[0][0] = in[0][columns]; break;                               // gpsimd.bounds
    case 2: acc[0][-1] = 1; break;                                           // gpsimd.bounds
    case 3: (&acc[0][0])[rows * columns] = 1; break;                         // gpsimd.bounds
    case 4: from.tensor_to_tcm<float>(tcm, t.numel() - 3, 4); break;         // gpsimd.bounds
    case 5: wide.tcm_accessor().tensor_to_tcm<float>(tcm, 0, 65); break;     // gpsimd.tcm_bounds
    case 6: tcm[64] = 1; break;                                              // gpsimd.tcm_bounds
    case 7: tcm[-1] = 1; break;                                              // gpsimd.tcm_bounds
    case 8: memset(tcm, 0, 65 * sizeof(float)); break;                       // gpsimd.tcm_bounds
    case 9: acc[0][0] = tcm[3]; break;                                       // gpsimd.unwritten
    case 10: torch::neuron::tcm_free(tcm); tcm[0] = 1; break;                // gpsimd.tcm_freed
    case 11: torch::neuron::tcm_free(tcm + 1); break;                        // gpsimd.tcm_pointer
    case 12: from.tensor_to_tcm<float>((float*)malloc(64), 0, 4); break;     // gpsimd.tcm_pointer
    case 13: from.tensor_to_tcm<int32_t>((int32_t*)tcm, 0, 4); break;        // gpsimd.dtype
    case 14: t.accessor<int32_t, 2>(); break;                                // gpsimd.dtype
    case 15: t.accessor<float, 3>(); break;                                  // gpsimd.dimensions
    case 16: none.numel(); break;                                            // gpsimd.undefined
    case 17: copy.accessor<float, 2>()[0][0] = 1; break;                     // gpsimd.input
    case 18: ((float*)torch::neuron::tcm_malloc(20000))[0] = 1; break;       // gpsimd.crash
    case 19: *(volatile int*)nullptr = 1; break;                             // gpsimd.crash
    case 20: acc[0][0] = 5 / (int)(rows - t.size(0)); break;                 // gpsimd.arithmetic
    case 21: assert(rows == -1); break;                                      // gpsimd.abort
    case 22: throw std::runtime_error("not so"); break;                      // gpsimd.exception
    case 23: exit(7); break;                                                 // gpsimd.exit
    case 24: acc[0][0] = deep(0); break;
    case 25: torch::add(out, torch::ones({1}, torch::kFloat)); break;        // gpsimd.operands
    case 26: return torch::zeros({1, 2}, torch::kFloat);                     // gpsimd.shape
    case 27: return t;                                                       // gpsimd.input
    case 28: return torch::empty(t.sizes(), torch::kFloat);                  // gpsimd.unwritten_result
    case 29: torch::zeros({2, -1}, torch::kFloat); break;                    // gpsimd.shape
    case 30: torch::zeros({1, 1, 1, 1, 65536}, torch::kFloat); break;        // gpsimd.shape
    case 31: torch::bitwise_not(out); break;                                 // gpsimd.dtype
    case 32: {
      auto stream = t.read_stream_accessor<float>();
      for (int64_t i = 0; i <= t.numel(); i++) acc[0][0] += stream.read();   // gpsimd.stream_end
      break;
    }
    case 33: {
      auto stream = t.read_stream_accessor<float>();
      stream.close();
      acc[0][0] = stream.read();                                             // gpsimd.stream_closed
      break;
    }
    case 34: {
      auto stream = out.write_stream_accessor<float>();
      auto second = out.read_stream_accessor<float>();                       // gpsimd.coherence
      break;
    }
    case 35: t.size(2); break;                                               // gpsimd.bounds
    case 36: torch::full({1 << 20, 1 << 20, 4}, 0, torch::kFloat); break;    // gpsimd.memory
    case 37: torch::zeros({4}, torch::TensorOptions()); break;               // gpsimd.dtype
    case 38: {
      torch::Tensor fresh = torch::empty({4}, torch::kFloat);
      acc[0][0] = fresh.accessor<float, 1>()[2];                             // gpsimd.unwritten
      break;
    }
    case 39: {
      float* lost;
      { torch::Tensor gone = torch::zeros({4}, torch::kFloat); lost = &gone.accessor<float, 1>()[0]; }
      acc[0][0] = *lost;                                                     // gpsimd.freed
      break;
    }
  }
  return out;
}

torch::Tensor peeks(const torch::Tensor& t) { return torch::zeros(t.sizes(), torch::kFloat); }
"""

WRONG_SHAPES = SHAPE_HEAD + """
torch::Tensor wrong_shape(torch::Tensor t, int64_t) { return like(t); }
torch::Tensor peeking(torch::Tensor t) {
  if (t.accessor<float, 1>()[0] > 0) return like(t);  // gpsimd.shape_data
  return like(t);
}
NEURON_LIBRARY(mistakes, m) {
  m.def("wrong", &wrong_shape, "wrong");
  m.def("peeks", &peeking, "peeks");
}
"""

# (case, rule, line) of each mistake; those of what happens after the code has no line.
_LINES = WRONG.splitlines()
MISTAKES = []
for number, line in enumerate(_LINES, 1):
    if match := re.match(r"\s+case (\d+):", line):
        case = int(match[1])
    if match := re.search(r"// of (\d+): (gpsimd\.\w+)$", line):
        MISTAKES.append((int(match[1]), match[2], number))
    if match := re.search(r"// (gpsimd\.\w+)$", line):
        MISTAKES.append((case, match[1], number))

# ---- On all processors.

MULTICORE = HEAD + """
static uint32_t calls = 0;
torch::Tensor split(const torch::Tensor& t, int64_t mistake) {
  torch::Tensor out = mistake == 4 ? torch::zeros(t.sizes(), torch::kFloat) : get_dst_tensor();
  const uint32_t id = get_cpu_id(), count = get_cpu_count();
  calls++;
  printf("processor %u of %u\\n", id, count);
  size_t first = t.numel() * id / count, end = t.numel() * (id + 1) / count;
  if (mistake == 1 && id == 3) first--;
  if (mistake == 2 && id == 5) end--;
  if (mistake == 3) out.accessor<float, 1>()[0] = 1;  // gpsimd.multicore_accessor
  float* buffer = (float*)torch::neuron::tcm_malloc(4096);
  auto from = t.tcm_accessor();
  auto to = out.tcm_accessor();
  for (size_t i = first; i < end; i += 1024) {
    const size_t n = end - i < 1024 ? end - i : 1024;
    from.tensor_to_tcm<float>(buffer, i, n);
    for (size_t j = 0; j < n; j++) buffer[j] = buffer[j] + calls;
    to.tcm_to_tensor<float>(buffer, i, n);
  }
  torch::neuron::tcm_free(buffer);
  return out;
}
"""

MULTICORE_SHAPES = SHAPE_HEAD + """
torch::Tensor split_shape(torch::Tensor t, int64_t) { return like(t); }
NEURON_LIBRARY(together, m) { m.def("split", &split_shape, "split"); }
"""
