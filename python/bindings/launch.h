// One launch of a kernel: the cores that run it, the tensors it is given, and the profile that is
// left when it ends.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>

#include "catalog/chip.h"
#include "core/neuron_core.h"
#include "sites.h"
#include "tensor.h"
#include "timing/clock.h"

namespace trnsim::python {

class Launch {
 public:
  Launch(std::shared_ptr<const catalog::Chip> chip, std::string kernel, bool values,
         std::uint64_t seed, bool stochastic_rounding)
      : chip_(std::move(chip)),
        kernel_(std::move(kernel)),
        core_(chip_->core, {values, seed, stochastic_rounding}),
        sites_(core_.program()) {}

  const catalog::Chip& chip() const { return *chip_; }
  const std::shared_ptr<const catalog::Chip>& spec() const { return chip_; }
  const std::string& kernel() const { return kernel_; }
  core::NeuronCore& core() { return core_; }
  const core::NeuronCore& core() const { return core_; }
  Sites& sites() { return sites_; }

  // Clocks what has been recorded so far; again only when more has been recorded since.
  const timing::Timeline& timeline();

 private:
  std::shared_ptr<const catalog::Chip> chip_;
  std::string kernel_;
  core::NeuronCore core_;
  Sites sites_;
  std::optional<timing::Timeline> timeline_;
};

// The launch that instructions go to; nullptr outside a kernel.
Launch* current_launch();

void bind_launch(nanobind::module_& m);
void bind_catalog(nanobind::module_& m);
void bind_calls(nanobind::module_& m);
void bind_profile(nanobind::module_& m);
void bind_command(nanobind::module_& m);

}  // namespace trnsim::python
