// dtypes, conversions and activation functions over plain byte buffers, for tests and for the front
// ends.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "numerics/convert.h"
#include "numerics/dtype.h"
#include "numerics/functions.h"
#include "numerics/random.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using namespace trnsim::numerics;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
auto owned_array(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

Dtype dtype_named(std::string_view name) {
  const auto type = dtype_from_name(name);
  if (!type) throw std::invalid_argument("unknown dtype: " + std::string(name));
  return *type;
}

auto convert(Bytes array, std::string_view src_dtype, std::string_view dst_dtype,
             std::string_view rounding, std::uint64_t seed, bool saturate) {
  const Dtype from = dtype_named(src_dtype);
  const Dtype to = dtype_named(dst_dtype);
  const auto units = array.size() / static_cast<std::size_t>(info(from).bytes);
  const auto elements = units * static_cast<std::size_t>(info(from).packed);
  const auto out_units = elements / static_cast<std::size_t>(info(to).packed);
  std::vector<float> values(elements);
  to_float(from, array.data(), info(from).bytes, values.data(), units);
  std::vector<std::uint8_t> out(out_units * static_cast<std::size_t>(info(to).bytes));
  const auto saturation = saturate ? Saturation::kFinite : Saturation::kNone;
  if (rounding == "nearest") {
    from_float(to, values.data(), out.data(), info(to).bytes, out_units, saturation);
  } else if (rounding == "stochastic") {
    StochasticRounding stream(seed);
    from_float_stochastic(to, values.data(), out.data(), info(to).bytes, out_units, stream,
                          saturation);
  } else {
    throw std::invalid_argument("rounding must be nearest or stochastic");
  }
  return owned_array(std::move(out));
}

auto apply_activation(std::string_view function_name, Floats x, float alpha) {
  const auto function = activation_function_from_name(function_name);
  if (!function)
    throw std::invalid_argument("unknown activation function: " + std::string(function_name));
  std::vector<float> out(x.size());
  activate(*function, x.data(), out.data(), x.size(), alpha);
  return owned_array(std::move(out));
}

}  // namespace

void bind_numerics(nb::module_& m) {
  m.def("convert", &convert, "array"_a, "src_dtype"_a, "dst_dtype"_a, "rounding"_a = "nearest",
        "seed"_a = 0, "saturate"_a = false,
        "Convert a uint8 buffer of src_dtype elements to dst_dtype, through fp32.");
  m.def("activate", &apply_activation, "function"_a, "x"_a, "alpha"_a = 0.0f,
        "An activation function over fp32.");
}
