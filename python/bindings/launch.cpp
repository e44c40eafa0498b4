#include "launch.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <limits>

#include "base/error.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

thread_local Launch* current = nullptr;  // each thread runs kernels of its own

memory::Space space_of(const std::string& name) {
  if (name == "SBUF") return memory::Space::kSbuf;
  if (name == "PSUM") return memory::Space::kPsum;
  if (name == "HBM") return memory::Space::kHbm;
  internal_error("unknown memory {}", name);
}

TensorObject new_tensor(Launch& launch, const std::string& space_name, nb::handle shape,
                        nb::handle dtype_object, const std::string& name,
                        std::optional<std::pair<int, std::int64_t>> address, bool clobber) {
  const numerics::Dtype dtype = dtype_of(dtype_object);
  const memory::Space space = space_of(space_name);
  const memory::Dims dims = dims_of(shape);
  const std::int64_t bytes = numerics::info(dtype).bytes;
  if (dims.product() > std::numeric_limits<std::int64_t>::max() / bytes) {
    program_error("tensor.shape", "shape {} has more elements than any memory holds", dims.text());
  }
  memory::Memory& memory = launch.core().memory();
  if (space == memory::Space::kHbm) {
    return TensorObject(
        memory::Tensor(memory.allocate_hbm(name, dims.product() * bytes), dtype, dims));
  }
  if (dims.size() == 0)
    program_error("tensor.shape", "an on-chip tensor needs at least its partition dimension");
  if (dims[0] > memory.geometry().partitions) {
    program_error("tensor.partitions", "tensor '{}' with shape {} has {} partitions; {} has {}",
                  name, dims.text(), dims[0], space_name, memory.geometry().partitions);
  }
  if (dims.product() == 0)
    program_error("tensor.empty", "tensor '{}' with shape {} has no elements", name, dims.text());
  const std::int64_t row = dims.product() / dims[0] * bytes;
  const int partitions = static_cast<int>(dims[0]);
  auto allocation =
      address ? memory.allocate_at(space, name, partitions, row, address->first, address->second,
                                   clobber ? memory::Overlap::kClobber : memory::Overlap::kShared)
              : memory.allocate(space, name, partitions, row);
  return TensorObject(memory::Tensor(std::move(allocation), dtype, dims));
}

}  // namespace

Launch* current_launch() { return current; }

const timing::Timeline& Launch::timeline() {
  if (!timeline_ || timeline_->entries.size() != core_.program().size())
    timeline_ = timing::clock(core_.program(), *chip_);
  return *timeline_;
}

void bind_launch(nb::module_& m) {
  m.def("set_package_folder", &Sites::set_package_folder);
  nb::class_<Launch>(m, "Launch")
      .def(nb::init<std::shared_ptr<const catalog::Chip>, std::string, bool, std::uint64_t, bool>(),
           nb::arg("chip"), nb::arg("kernel"), nb::arg("values") = true, nb::arg("seed") = 0,
           nb::arg("stochastic_rounding") = false)
      .def(
          "enter", [](Launch& self) { current = &self; }, "Let instructions go to this launch.")
      .def(
          "close", [](Launch& self) { self.core().memory().close(); },
          "End the launch: its tensors' values go.")
      .def_static("leave", [] { current = nullptr; })
      .def_prop_ro("kernel", &Launch::kernel)
      .def_prop_ro("chip", [](const Launch& self) { return self.chip().name; })
      .def_prop_ro("spec", &Launch::spec, "The chip, for its figures.")
      .def_prop_ro("generation", [](const Launch& self) { return self.core().spec().version(); })
      .def_prop_ro("values", [](const Launch& self) { return self.core().options().values; })
      .def_prop_ro("instruction_count",
                   [](const Launch& self) { return self.core().program().size(); })
      .def_prop_ro("sbuf_bytes",
                   [](Launch& self) { return self.core().memory().geometry().sbuf_bytes; })
      .def_prop_ro("psum_bank_bytes",
                   [](Launch& self) { return self.core().memory().geometry().psum_bank_bytes; })
      .def_prop_ro("psum_bytes",
                   [](Launch& self) { return self.core().memory().geometry().psum_bytes; })
      .def("tensor", &new_tensor, nb::arg("space"), nb::arg("shape"), nb::arg("dtype"),
           nb::arg("name") = "", nb::arg("address").none() = nb::none(),
           nb::arg("clobber") = false);
}

}  // namespace trnsim::python
