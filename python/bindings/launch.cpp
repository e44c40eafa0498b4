#include "launch.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "base/error.h"

namespace nb = nanobind;

namespace trnsim::python {
namespace {

thread_local RunningCore* current = nullptr;  // each thread runs kernels of its own

memory::Space space_of(const std::string& name) {
  if (name == "SBUF") return memory::Space::kSbuf;
  if (name == "PSUM") return memory::Space::kPsum;
  if (name == "HBM") return memory::Space::kHbm;
  internal_error("unknown memory {}", name);
}

TensorObject new_tensor(RunningCore& running, const std::string& space_name, nb::handle shape,
                        nb::handle dtype_object, const std::string& given_name,
                        std::optional<std::pair<int, std::int64_t>> address, bool clobber,
                        bool shared) {
  const std::string name = given_name.empty() ? running.sites().assigned_name() : given_name;
  const numerics::Dtype dtype = dtype_of(dtype_object);
  const memory::Space space = space_of(space_name);
  const memory::Dims dims = dims_of(shape);
  const std::int64_t bytes = numerics::info(dtype).bytes;
  if (dims.product() > std::numeric_limits<std::int64_t>::max() / bytes) {
    program_error("tensor.shape", "shape {} has more elements than any memory holds", dims.text());
  }
  memory::Memory& memory = running.core().memory();
  if (space == memory::Space::kHbm) {
    return TensorObject(
        memory::Tensor(memory.allocate_hbm(name, dims.product() * bytes, shared), dtype, dims));
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

RunningCore* running_core() { return current; }

RunningCore::RunningCore(Launch& launch, int rank)
    : launch_(launch), rank_(rank), core_(launch.cores()[rank]), sites_(core_.program()) {}

void RunningCore::depend(std::uint32_t consumer, std::uint32_t producer) {
  core_.program().depend(consumer, producer);
  launch_.forget_timelines();
}

void RunningCore::depend_by_name(const std::string& consumer, const std::string& producer) {
  const program::Program& program = core_.program();
  std::optional<std::uint32_t> latest;
  bool found = false;
  for (std::uint32_t i = 0; i < program.size(); ++i) {
    const std::string* name = program.name(i);
    if (!name) continue;
    if (*name == consumer) {
      found = true;
      if (!latest) {
        program_error("launch.schedule",
                      "with_schedule: '{}' is to wait for '{}', which does not stand before it",
                      consumer, producer);
      }
      depend(i, *latest);
    }
    if (*name == producer) latest = i;
  }
  if (!found)
    program_error("launch.schedule", "with_schedule: no instruction is called '{}'", consumer);
}

Launch::Launch(std::shared_ptr<const catalog::Chip> chip, std::string kernel, int cores,
               const core::Options& options, const std::string& schedule)
    : chip_(std::move(chip)),
      kernel_(std::move(kernel)),
      scheduling_(timing::scheduling_named(schedule)),
      cores_(chip_->core, options, cores) {
  for (int rank = 0; rank < cores; ++rank)
    running_.push_back(std::make_unique<RunningCore>(*this, rank));
}

std::size_t Launch::instruction_count() const {
  std::size_t count = 0;
  for (int rank = 0; rank < cores_.size(); ++rank) count += cores_[rank].program().size();
  return count;
}

std::vector<program::Program*> Launch::programs() {
  std::vector<program::Program*> programs;
  for (int rank = 0; rank < cores_.size(); ++rank) programs.push_back(&cores_[rank].program());
  return programs;
}

const std::vector<timing::Timeline>& Launch::timelines() {
  if (timelines_.empty() || clocked_ != instruction_count()) {
    const std::vector<program::Program*> mine = programs();
    timelines_ = timing::clock(std::vector<const program::Program*>(mine.begin(), mine.end()),
                               *chip_, {.scheduling = scheduling_});
    clocked_ = instruction_count();
  }
  return timelines_;
}

namespace {

// wait(rank, complete), called in the thread of a core that has come to a meeting.
void set_wait(Launch& launch, nb::object wait) {
  if (wait.is_none()) {
    launch.cores().wait = nullptr;
  } else {
    launch.cores().wait = [wait](int rank, bool complete) { wait(rank, complete); };
  }
}

nb::tuple current_line(RunningCore& running) {
  const program::Site& site = running.core().program().sites()[running.sites().current()];
  return nb::make_tuple(site.file, site.line);
}

void bind_running_core(nb::module_& m) {
  const auto memory = [](const RunningCore& self) -> const memory::Geometry& {
    return self.core().memory().geometry();
  };
  nb::class_<RunningCore>(m, "Core")
      .def(
          "enter", [](RunningCore& self) { current = &self; },
          "Let this thread's instructions go to this core.")
      .def(
          "end", [](RunningCore& self) { self.launch().cores().end(self.rank()); },
          "Its programs are over. Raises ProgramError for a race that ends here, and for tiles "
          "that do not fit.")
      .def(
          "watch_races",
          [](RunningCore& self, bool watch) {
            self.launch().cores().watch_races(self.rank(), watch);
          },
          nb::arg("watch"))
      .def(
          "compiled_as_beta1",
          [](RunningCore& self) { self.core().program().dialect = program::Dialect::kBeta1; },
          "Its instructions are what Beta 1's compiler would be given.")
      .def(
          "keep_in_order",
          [](RunningCore& self, std::uint64_t first) {
            program::Program& program = self.core().program();
            program.keep_in_order({first, program.size()});
          },
          nb::arg("first"), "Instructions from `first` on, up to now, keep their order.")
      .def(
          "end_round",
          [](RunningCore& self, std::uint64_t first, std::uint32_t before) {
            program::Program& program = self.core().program();
            return program.add_round({{first, program.size()}, before});
          },
          nb::arg("first"), nb::arg("before"),
          "A round of a loop, instructions from `first` on, is over; `before` is the number of the "
          "loop's round before it, or FIRST_ROUND. Its own number.")
      .def_ro_static("FIRST_ROUND", &program::Round::kNone)
      .def("depend_by_name", &RunningCore::depend_by_name, nb::arg("consumer"), nb::arg("producer"))
      .def("enter_loop", &RunningCore::enter_loop)
      .def("leave_loop", &RunningCore::leave_loop)
      .def("break_at", &RunningCore::break_at, nb::arg("index"), nb::arg("stop"),
           "Call stop() just before the instruction with this index.")
      .def_prop_ro("line", &current_line, "File and line of the kernel that are being run.")
      .def_prop_ro("rank", &RunningCore::rank)
      .def_prop_ro(
          "spec", [](RunningCore& self) { return self.launch().spec(); },
          "The chip, for its figures.")
      .def_prop_ro("instruction_count",
                   [](const RunningCore& self) { return self.core().program().size(); })
      .def_prop_ro("generation",
                   [](const RunningCore& self) { return self.core().spec().version(); })
      .def_prop_ro("values", [](const RunningCore& self) { return self.core().options().values; })
      .def_prop_ro("sbuf_bytes", [=](const RunningCore& self) { return memory(self).sbuf_bytes; })
      .def_prop_ro("psum_bank_bytes",
                   [=](const RunningCore& self) { return memory(self).psum_bank_bytes; })
      .def_prop_ro("psum_bytes", [=](const RunningCore& self) { return memory(self).psum_bytes; })
      .def("tensor", &new_tensor, nb::arg("space"), nb::arg("shape"), nb::arg("dtype"),
           nb::arg("name") = "", nb::arg("address").none() = nb::none(), nb::arg("clobber") = false,
           nb::arg("shared") = false);
}

}  // namespace

void bind_launch(nb::module_& m) {
  m.def("set_package_folder", &Sites::set_package_folder);
  bind_running_core(m);
  nb::class_<Launch>(m, "Launch")
      .def(
          "__init__",
          [](Launch* self, std::shared_ptr<const catalog::Chip> chip, std::string kernel, int cores,
             bool values, std::uint64_t seed, bool stochastic_rounding, bool stop_on_nan,
             bool exact_integers, bool spill, const std::string& schedule) {
            const core::Options options{values,      seed,           stochastic_rounding,
                                        stop_on_nan, exact_integers, spill};
            new (self) Launch(std::move(chip), std::move(kernel), cores, options, schedule);
          },
          nb::arg("chip"), nb::arg("kernel"), nb::arg("cores") = 1, nb::arg("values") = true,
          nb::arg("seed") = 0, nb::arg("stochastic_rounding") = false,
          nb::arg("stop_on_nan") = false, nb::arg("exact_integers") = false,
          nb::arg("spill") = false, nb::arg("schedule") = "")
      .def("core", &Launch::running, nb::arg("rank"), nb::rv_policy::reference_internal)
      .def(
          "close",
          [](Launch& self) {
            for (int rank = 0; rank < self.cores().size(); ++rank)
              self.cores()[rank].memory().close();
          },
          "End the launch: its tensors' values go.")
      .def("set_wait", &set_wait, nb::arg("wait").none())
      .def_static("leave", [] { current = nullptr; })
      .def_prop_ro("kernel", &Launch::kernel)
      .def_prop_ro("chip", [](const Launch& self) { return self.chip().name; })
      .def_rw("first_core", &Launch::first_core, "Number of its first core in reports.")
      .def_prop_ro("cores", [](const Launch& self) { return self.cores().size(); })
      .def_prop_ro(
          "remarks",
          [](const Launch& self) {
            std::vector<std::tuple<std::string, int, std::string>> remarks;
            for (int rank = 0; rank < self.cores().size(); ++rank) {
              const core::NeuronCore& core = self.cores()[rank];
              for (const auto& remark : core.remarks()) {
                const program::Site& site = core.program().sites()[remark.site];
                remarks.emplace_back(site.file, site.line, remark.text);
              }
            }
            return remarks;
          },
          "What was carried out although it looks wrong: (file, line, text).")
      .def_prop_ro("instruction_count", &Launch::instruction_count);
}

}  // namespace trnsim::python
