// One NeuronCore as far as values go: takes instructions one by one, refuses illegal ones, records
// them and carries them out. Knows no time. Eager: a front end may read a value back and branch on
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catalog/chip.h"
#include "isa/instruction.h"
#include "memory/memory.h"
#include "program/program.h"

namespace trnsim::core {

struct Options {
  bool values = true;  // false: record and check only, arithmetic and storage left out
  std::uint64_t seed = 0;
  bool stochastic_rounding = false;  // of results narrower than fp32; otherwise to nearest
  bool stop_on_nan = false;          // throw NonFinite at the first instruction that makes one
  bool exact_integers = false;  // refuse 32-bit integers that lose bits on their way through fp32
  bool spill = false;           // tiles that do not fit into SBUF give way, as the compiler has it
};

class LogicalCore;

class NeuronCore {
 public:
  // place, space: among the cores of a LogicalCore.
  NeuronCore(
      const catalog::Core& spec, const Options& options, isa::Place place = {},
      std::shared_ptr<memory::AddressSpace> space = std::make_shared<memory::AddressSpace>());
  NeuronCore(const NeuronCore&) = delete;

  const catalog::Core& spec() const { return spec_; }
  const Options& options() const { return options_; }
  memory::Memory& memory() { return *memory_; }
  program::Program& program() { return program_; }
  const program::Program& program() const { return program_; }

  // `args` is the instruction's argument struct. Throws ProgramError where a rule is broken;
  // nothing is then recorded.
  void issue(const isa::InstructionType& type, const void* args, std::uint32_t site);

  // What was carried out although it looks wrong; once for each line of the user's.
  struct Remark {
    std::uint32_t site;
    std::string text;
  };
  const std::vector<Remark>& remarks() const { return remarks_; }

 private:
  friend class LogicalCore;

  // Once the program is over: throws where it needed more memory than there is, or adds what the
  // compiler's spills would transfer.
  void fit_into_memory();
  void remark(const isa::InstructionType& type, std::string_view about, std::string_view text,
              std::uint32_t site);
  // That `tile` may be read: by an engine that computes also where a part was never written.
  void require_readable(const isa::InstructionType& type, const isa::FieldInfo& field,
                        const isa::Tile& tile, isa::Engine engine, std::uint32_t site);
  // The same for an instruction with indirect tiles (indirection.cpp).
  void issue_indirect(const isa::InstructionType& type, const void* args, std::uint32_t site,
                      const isa::Rules& rules);

  catalog::Core spec_;
  Options options_;
  isa::Place place_;
  LogicalCore* logical_ = nullptr;  // null for a core of its own
  std::shared_ptr<memory::Memory> memory_;
  numerics::StochasticRounding stochastic_;
  isa::CoreState state_;
  program::Program program_;
  std::vector<Remark> remarks_;
  std::set<std::pair<std::uint32_t, std::string>> remarked_;  // by site and subject
};

}  // namespace trnsim::core
