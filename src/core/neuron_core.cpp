#include "core/neuron_core.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/error.h"
#include "core/capacity.h"
#include "core/indirection.h"
#include "core/logical_core.h"
#include "core/non_finite.h"
#include "core/spills.h"

namespace trnsim::core {
namespace {

// The simulation holds one value per partition in fixed arrays.
const catalog::Core& checked(const catalog::Core& spec) {
  for (const auto& [name, count] : {std::pair{"sbuf.partitions", spec.sbuf.partitions.value},
                                    {"psum.partitions", spec.psum.partitions.value},
                                    {"tensor.rows", spec.tensor.rows.value}}) {
    if (count < 1 || count > memory::kPartitionsMax) {
      config_error("{} is {}; trnsim simulates 1 to {}", name, count, memory::kPartitionsMax);
    }
  }
  return spec;
}

memory::Geometry geometry_of(const catalog::Core& spec, bool values) {
  return {.partitions = static_cast<int>(spec.sbuf.partitions),
          .sbuf_bytes = static_cast<std::int64_t>(spec.sbuf.usable_bytes_per_partition),
          .psum_bytes = static_cast<std::int64_t>(spec.psum.banks * spec.psum.bank_bytes),
          .psum_bank_bytes = static_cast<std::int64_t>(spec.psum.bank_bytes),
          .real_storage = values,
          .staging_areas = spec.version() >= kIndirectSince ? kStagingAreas : 0};
}

}  // namespace

NeuronCore::NeuronCore(const catalog::Core& spec, const Options& options, isa::Place place,
                       std::shared_ptr<memory::AddressSpace> space)
    : spec_(checked(spec)),
      options_(options),
      place_(place),
      memory_(
          std::make_shared<memory::Memory>(geometry_of(spec, options.values), std::move(space))),
      stochastic_(options.seed),
      state_(*memory_, spec.version(), options.seed) {
  if (options_.stochastic_rounding) state_.stochastic = &stochastic_;
  state_.exact_integers = options_.exact_integers;
  memory_->on_place = [this](const memory::Allocation& a) { program_.tensor_born(a); };
  memory_->on_release = [this](std::uint32_t id) { program_.tensor_freed(id); };
}

void NeuronCore::issue(const isa::InstructionType& type, const void* args, std::uint32_t site) {
  const isa::Rules rules(type.info.name, spec_, *memory_, place_);
  if (type.info.since > 1) rules.generation_at_least(type.info.since, type.info.name.data());
  std::uint16_t indirect = 0;
  isa::for_each_tile(type, args, [&](const isa::FieldInfo&, const isa::Tile& tile) {
    indirect |= tile.indirection;
  });
  if (indirect != 0) return issue_indirect(type, args, site, rules);
  type.check(args, rules);
  for (const std::string& text : rules.remarks()) remark(type, text, text, site);
  const isa::Engine engine = type.engine(args, spec_.version());
  isa::for_each_tile(type, args, [&](const isa::FieldInfo& field, const isa::Tile& tile) {
    if (isa::reads_whole(field.access)) require_readable(type, field, tile, engine, site);
  });
  if (logical_) logical_->before(place_.rank, type, args, site);
  std::optional<NonFiniteWatch> watch;
  if (options_.stop_on_nan && options_.values) watch.emplace(type, args, *memory_);
  if (options_.values) type.execute(args, state_);
  program_.append(type, engine, site, args);
  memory_->next_instruction();
  isa::for_each_tile(type, args, [&](const isa::FieldInfo& field, const isa::Tile& tile) {
    if (!isa::writes(field.access)) return;
    // Where only a part is written the instruction has said which, unless it was not executed.
    if (field.access != isa::Access::kWritePart || !options_.values) memory_->mark_written(tile);
    if (tile.space == memory::Space::kPsum)
      memory_->mark_accumulated(tile, engine == isa::Engine::kTensor);
  });
  if (logical_) logical_->after(place_.rank, type, args);
  if (watch) watch->check(program_);
}

void NeuronCore::require_readable(const isa::InstructionType& type, const isa::FieldInfo& field,
                                  const isa::Tile& tile, isa::Engine engine, std::uint32_t site) {
  // What cores exchange they exchange as it lies there, padding and all.
  const bool stored = engine == isa::Engine::kDma && !type.meeting;
  if (stored || tile.space == memory::Space::kHbm)
    return memory_->require_written(tile, field.name.data());
  const auto text = memory_->poison_unwritten(tile, field.name.data());
  if (text) remark(type, field.name, *text, site);
}

void NeuronCore::fit_into_memory() {
  if (!memory_->brought_back()) return;
  if (const auto found = overflow(program_, *memory_, memory::Space::kPsum))
    program_error("memory.capacity", "{}.", found->text);
  const auto found = overflow(program_, *memory_, memory::Space::kSbuf);
  // Beta 1's compiler is known to spill; what it says of it is no warning.
  const bool beta1 = program_.dialect == program::Dialect::kBeta1;
  if (found && !options_.spill && !beta1) {
    program_error("memory.capacity",
                  "{}, or have the compiler's spills clocked: trnsim run --spill, "
                  "trnsim.install(spill=True).",
                  found->text);
  }
  if (!found && !beta1) return;
  Spilled with = spilled(program_, *memory_, found.has_value());
  program_ = std::move(with.program);
  if (!found || beta1) return;
  remarks_.push_back(
      {found->site, fmt::format("{}. As the compiler spills, {} bytes are loaded again, {} are "
                                "written to HBM and {} read back.",
                                found->text, with.loaded_again, with.written, with.read)});
}

void NeuronCore::remark(const isa::InstructionType& type, std::string_view about,
                        std::string_view text, std::uint32_t site) {
  if (remarked_.emplace(site, about).second)
    remarks_.push_back({site, fmt::format("{}: {}", type.info.name, text)});
}

}  // namespace trnsim::core
