// What the parts of an operator's process share: its memories, what it has counted, how it fails.
#pragma once

#include <stdint.h>
#include <trnsim_gpsimd/accessors.h>
#include <trnsim_gpsimd/registration.h>

#include <string>
#include <vector>

namespace trnsim_gpsimd {

// Figures of the chip and of the run; the order is that of serve.py.
struct Settings {
  int64_t cpu, cpus, pool_bytes, stream_buffer_bytes, fast_streams, stack_in_hbm;
};
extern Settings settings;

// From these the simulator derives the time; see custom_op.cpp of the instruction set.
struct Counts {
  int64_t element_accesses = 0, transfers = 0, transfer_bytes = 0;
  int64_t accesses = 0, stretches = 0;  // of code between branches
  int64_t library_steps = 0;
  int64_t stack_bytes = 0;
  // A bundle of instructions holds an access beside other work.
  int64_t steps() const { return library_steps + (accesses > stretches ? accesses : stretches); }
};
extern Counts counts;

enum class Mode { kIdle, kShape, kKernel };
extern Mode mode;

// Ends the process after telling the simulator what was wrong and where.
[[noreturn]] void fault(const char* rule, const std::string& message);
std::string text(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string text(const std::vector<int64_t>& sizes);

// ---- memory.cpp

torch::Tensor new_tensor(c10::ScalarType type, const std::vector<int64_t>& sizes,
                         const char* data = nullptr);
void release_tensor(Storage* storage);
const std::vector<uint8_t>& written_bytes(const Storage& storage);
void require_readable(const Storage& storage, int64_t first_byte, int64_t bytes);
void mark_written(Storage& storage, int64_t first_byte, int64_t bytes);
void transfer(int64_t bytes);  // counts one between HBM and the processor
void forget_memory();          // of the call that has ended
// What is at an address that cannot be accessed.
std::string describe_address(const void* address);
void watch_stack(const void* top);

struct Operator {
  std::string library, name, kernel;
  Function function;
};
std::vector<Operator>& operators();

torch::Tensor& destination();  // of the call; undefined where there is none
extern bool destination_used;

}  // namespace trnsim_gpsimd
