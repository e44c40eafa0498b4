// What a library's operators are called and which functions they are. A function's parameters are
// found from its type, so that a call can be made from a list of arguments.
#pragma once

#include <trnsim_gpsimd/tensor.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace trnsim_gpsimd {

// The codes are those of the messages between the simulator and the operator's process.
enum class Kind : int8_t { kTensor, kScalar, kDouble, kInteger };

struct Argument {
  torch::Tensor tensor;
  c10::Scalar number = 0;
};

template <class T>
struct KindOf {
  static_assert(sizeof(T) == 0,
                "an operator's parameters are torch::Tensor, torch::Scalar, double or int64_t");
};
template <>
struct KindOf<torch::Tensor> {
  static constexpr Kind value = Kind::kTensor;
  static const torch::Tensor& of(const Argument& a) { return a.tensor; }
};
template <>
struct KindOf<c10::Scalar> {
  static constexpr Kind value = Kind::kScalar;
  static const c10::Scalar& of(const Argument& a) { return a.number; }
};
template <>
struct KindOf<double> {
  static constexpr Kind value = Kind::kDouble;
  static double of(const Argument& a) { return a.number.toDouble(); }
};
template <>
struct KindOf<int64_t> {
  static constexpr Kind value = Kind::kInteger;
  static int64_t of(const Argument& a) { return a.number.toLong(); }
};

// A function of the user's with its type erased.
struct Function {
  using Erased = void (*)();
  Erased function = nullptr;
  torch::Tensor (*call)(Erased, const std::vector<Argument>&) = nullptr;
  std::vector<Kind> parameters;
};

template <class... Args, size_t... I>
torch::Tensor call_with(Function::Erased erased, const std::vector<Argument>& arguments,
                        std::index_sequence<I...>) {
  auto function = reinterpret_cast<torch::Tensor (*)(Args...)>(erased);
  std::tuple<std::decay_t<Args>...> values{KindOf<std::decay_t<Args>>::of(arguments[I])...};
  return function(static_cast<Args>(std::get<I>(values))...);
}

template <class... Args>
Function erase(torch::Tensor (*function)(Args...)) {
  Function erased;
  erased.function = reinterpret_cast<Function::Erased>(function);
  erased.parameters = {KindOf<std::decay_t<Args>>::value...};
  erased.call = [](Function::Erased f, const std::vector<Argument>& arguments) {
    return call_with<Args...>(f, arguments, std::index_sequence_for<Args...>{});
  };
  return erased;
}

// Adds to the table that the process serves.
void register_operator(const char* library, const std::string& name, const std::string& kernel,
                       Function function);

}  // namespace trnsim_gpsimd

namespace torch {

class Library {
 public:
  explicit Library(const char* name) : name_(name) {}

  // NEURON_LIBRARY: the function that gives the result's shape, and the kernel's name.
  template <class... Args>
  Library& def(const char* name, Tensor (*shape)(Args...), const char* kernel) {
    trnsim_gpsimd::register_operator(name_, name, kernel, trnsim_gpsimd::erase(shape));
    return *this;
  }
  // TORCH_LIBRARY: one function that is both, as on a CPU.
  template <class... Args>
  Library& def(const char* name, Tensor (*function)(Args...)) {
    trnsim_gpsimd::register_operator(name_, name, "", trnsim_gpsimd::erase(function));
    return *this;
  }

 private:
  const char* name_;
};

}  // namespace torch

#define TRNSIM_LIBRARY(name, m)                          \
  static void trnsim_define_##name(::torch::Library& m); \
  namespace {                                            \
  const struct TrnsimDefine_##name {                     \
    TrnsimDefine_##name() {                              \
      ::torch::Library library(#name);                   \
      trnsim_define_##name(library);                     \
    }                                                    \
  } trnsim_defined_##name;                               \
  }                                                      \
  static void trnsim_define_##name(::torch::Library& m)
#define NEURON_LIBRARY(name, m) TRNSIM_LIBRARY(name, m)
#define TORCH_LIBRARY(name, m) TRNSIM_LIBRARY(name, m)
