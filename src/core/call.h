// An instruction with its arguments, filled by the names of its fields.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/neuron_core.h"
#include "isa/instruction.h"
#include "memory/tensor.h"

namespace trnsim::core {

class Call {
 public:
  explicit Call(std::string_view name)
      : type_(isa::find_instruction(name)), args_(type_->defaults) {}
  // As instruction i of a program.
  Call(const program::Program& program, std::size_t i) : type_(&program.type(program[i])) {
    const auto* bytes = static_cast<const std::byte*>(program.args(program[i]));
    args_.assign(bytes, bytes + type_->size());
  }

  template <class T>
  Call& set(std::string_view field, const T& value) {
    std::memcpy(args_.data() + offset_of(field), &value, sizeof(T));
    return *this;
  }
  template <class T>
  T get(std::string_view field) const {
    T value;
    std::memcpy(&value, args_.data() + offset_of(field), sizeof(T));
    return value;
  }

  const isa::InstructionType& type() const { return *type_; }
  const std::vector<std::byte>& args() const { return args_; }
  void issue(NeuronCore& core) const { core.issue(*type_, args_.data(), 0); }

 private:
  std::size_t offset_of(std::string_view field) const {
    const auto it = std::find_if(type_->fields.begin(), type_->fields.end(),
                                 [&](const isa::FieldInfo& f) { return f.name == field; });
    if (it == type_->fields.end()) internal_error("{} has no field {}", type_->info.name, field);
    return it->offset;
  }

  const isa::InstructionType* type_;
  std::vector<std::byte> args_;
};

// Tensors of one core. They hold small numbers, so that no arithmetic meets subnormals.
class Tensors {
 public:
  explicit Tensors(NeuronCore& core) : core_(core) {}

  isa::Tile on_chip(isa::Space space, numerics::Dtype dtype, int partitions, int columns) {
    const int bytes = numerics::info(dtype).bytes;
    return fill(core_.memory().allocate(space, {}, partitions, columns * bytes), dtype,
                {partitions, columns});
  }
  isa::Tile hbm(numerics::Dtype dtype, int rows, int columns) {
    const std::int64_t bytes = numerics::info(dtype).bytes;
    return fill(core_.memory().allocate_hbm({}, rows * columns * bytes), dtype, {rows, columns});
  }

 private:
  isa::Tile fill(std::shared_ptr<memory::Allocation> storage, numerics::Dtype dtype,
                 const memory::Dims& shape) {
    core_.program().tensor_born(*storage);
    const isa::Tile tile = memory::Tensor(storage, dtype, shape).access();
    kept_.push_back(std::move(storage));
    core_.memory().mark_written(tile);
    if (tile.on_chip() && core_.options().values)
      Call("memset").set("dst", tile).set("value", 0.5).issue(core_);
    return tile;
  }

  NeuronCore& core_;
  std::vector<std::shared_ptr<memory::Allocation>> kept_;
};

}  // namespace trnsim::core
