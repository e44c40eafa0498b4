// A few instructions on one core, written by name, and the times that the clock gives them. A test
// says when something could start at the earliest and that it did start then: each rule is tight,
// not merely kept.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "catalog/catalog.h"
#include "program/program.h"
#include "timing/clock.h"

namespace trnsim::timing {

using isa::Engine;
using isa::Tile;
using numerics::Dtype;

inline Tile tile(memory::Space space, std::int64_t offset, int partitions, int elements,
                 Dtype dtype = Dtype::kFloat32, int start_partition = 0) {
  Tile t;
  t.space = space;
  t.offset = offset;
  t.dims = 2;
  t.dtype = dtype;
  t.start_partition = static_cast<std::uint16_t>(start_partition);
  t.sizes = {partitions, elements};
  t.strides = {static_cast<std::int64_t>(elements) * t.element_bytes(), t.element_bytes()};
  return t;
}

inline Tile sbuf(std::int64_t offset, int elements, int partitions = 128,
                 Dtype dtype = Dtype::kFloat32) {
  return tile(memory::Space::kSbuf, offset, partitions, elements, dtype);
}
inline Tile psum(std::int64_t offset, int elements, int partitions = 128) {
  return tile(memory::Space::kPsum, offset, partitions, elements);
}
inline Tile strided(Tile t, int stride_elements) {
  t.strides[1] = static_cast<std::int64_t>(stride_elements) * t.element_bytes();
  return t;
}

using Value = std::variant<Tile, Engine, numerics::ActivationFunction, numerics::AluOp,
                           isa::DgeMode, isa::IntList>;
using Arguments = std::initializer_list<std::pair<std::string_view, Value>>;

class Scene {
 public:
  explicit Scene(const char* chip_name = "trainium2")
      : chip(catalog::load("hardware").chip(chip_name)) {}

  catalog::Chip chip;  // to be changed before the first question
  program::Program program;

  catalog::Core& core() { return chip.core; }

  Tile hbm(int partitions, int elements, Dtype dtype = Dtype::kFloat32) {
    Tile t = tile(memory::Space::kHbm, 0, partitions, elements, dtype);
    memory::Allocation allocation;
    allocation.id = t.tensor = ++tensors_;
    allocation.name = "h" + std::to_string(t.tensor);
    allocation.bytes = t.bytes();
    program.tensor_born(allocation);
    return t;
  }

  std::uint32_t issue(std::string_view name, Arguments arguments) {
    const isa::InstructionType* type = isa::find_instruction(name);
    if (!type) throw std::invalid_argument("no instruction " + std::string(name));
    std::vector<std::byte> args = type->defaults;
    for (const auto& [argument, value] : arguments) {
      const isa::FieldInfo& field = field_of(*type, argument);
      std::visit([&](const auto& v) { std::memcpy(args.data() + field.offset, &v, sizeof v); },
                 value);
    }
    const Engine engine = type->engine(args.data(), core().version());
    program.append(*type, engine,
                   program.intern({"kernel.py", static_cast<int>(program.size()) + 1, "kernel"}),
                   args.data());
    timeline_.reset();
    return static_cast<std::uint32_t>(program.size() - 1);
  }

  std::uint32_t copy(const Tile& dst, const Tile& src, Engine engine = Engine::kVector) {
    return issue("tensor_copy", {{"dst", dst}, {"src", src}, {"engine", engine}});
  }
  std::uint32_t activate(const Tile& dst, const Tile& src, numerics::ActivationFunction function) {
    return issue("activation", {{"dst", dst}, {"data", src}, {"op", function}});
  }
  std::uint32_t matmul(const Tile& dst, const Tile& stationary, const Tile& moving) {
    return issue("nc_matmul", {{"dst", dst}, {"stationary", stationary}, {"moving", moving}});
  }
  std::uint32_t dma(const Tile& dst, const Tile& src, isa::DgeMode mode = isa::DgeMode::kNone) {
    return issue("dma_copy", {{"dst", dst}, {"src", src}, {"dge_mode", mode}});
  }

  const Timeline& timeline() {
    if (!timeline_) timeline_ = clock(program, chip);
    return *timeline_;
  }
  const Entry& at(std::uint32_t i) { return timeline().entries[i]; }

  Picoseconds semaphore() const { return from_ns(chip.core.sync.semaphore_latency); }

 private:
  static const isa::FieldInfo& field_of(const isa::InstructionType& type, std::string_view name) {
    for (const isa::FieldInfo& field : type.fields) {
      if (field.name == name) return field;
    }
    throw std::invalid_argument(std::string(type.info.name) + " has no argument " +
                                std::string(name));
  }

  std::uint32_t tensors_ = 0;
  std::optional<Timeline> timeline_;
};

// Started exactly when `earliest` allowed it, and says that it waited for `whom`.
inline void expect_start(Scene& scene, std::uint32_t i, Picoseconds earliest, Wait wait,
                         std::uint32_t whom) {
  const Entry& entry = scene.at(i);
  EXPECT_EQ(entry.start.count, earliest.count);
  EXPECT_EQ(wait_name(entry.wait), wait_name(wait));
  EXPECT_EQ(entry.waited_for, whom);
}

}  // namespace trnsim::timing
