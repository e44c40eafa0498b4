// The process of an operator's code: answers the simulator's requests over two pipes. A request and
// a reply are a length of 4 bytes and as many bytes; numbers are little-endian. What the operator
// does wrong, and what would end the process, becomes a reply with the places in its code.
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <exception>

#include "runtime.h"

namespace trnsim_gpsimd {

bool destination_used = false;

torch::Tensor& destination() {
  static auto* tensor = new torch::Tensor;
  return *tensor;
}

std::vector<Operator>& operators() {
  static auto* table = new std::vector<Operator>;
  return *table;
}

void register_operator(const char* library, const std::string& name, const std::string& kernel,
                       Function function) {
  operators().push_back({library, name, kernel, std::move(function)});
}

std::string text(const char* format, ...) {
  char buffer[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return buffer;
}

std::string text(const std::vector<int64_t>& sizes) {
  std::string result = "[";
  for (size_t i = 0; i < sizes.size(); ++i) result += (i ? ", " : "") + std::to_string(sizes[i]);
  return result + "]";
}

namespace {

int request_pipe, reply_pipe;

[[noreturn]] void quit() { _exit(1); }

void write_all(const void* data, size_t size) {
  const char* p = static_cast<const char*>(data);
  while (size) {
    const ssize_t n = write(reply_pipe, p, size);
    if (n <= 0) quit();
    p += n;
    size -= static_cast<size_t>(n);
  }
}

void read_all(void* data, size_t size) {
  char* p = static_cast<char*>(data);
  while (size) {
    const ssize_t n = read(request_pipe, p, size);
    if (n <= 0) _exit(0);  // the simulator has gone
    p += n;
    size -= static_cast<size_t>(n);
  }
}

class Reply {
 public:
  template <class T>
  Reply& number(T value) {
    return raw(&value, sizeof value);
  }
  Reply& string(const std::string& s) {
    return number(static_cast<uint64_t>(s.size())).raw(s.data(), s.size());
  }
  Reply& raw(const void* data, size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
    return *this;
  }
  void send() const {
    const auto size = static_cast<uint64_t>(bytes_.size());
    write_all(&size, sizeof size);
    write_all(bytes_.data(), bytes_.size());
  }

 private:
  std::string bytes_;
};

class Request {
 public:
  explicit Request(std::string bytes) : bytes_(std::move(bytes)) {}
  template <class T>
  T number() {
    T value;
    memcpy(&value, take(sizeof value), sizeof value);
    return value;
  }
  const char* take(size_t size) {
    const char* p = bytes_.data() + at_;
    at_ += size;
    return p;
  }

 private:
  std::string bytes_;
  size_t at_ = 0;
};

// Where the operator's library was loaded; the simulator turns offsets into lines.
uintptr_t own_base() {
  Dl_info own;
  dladdr(reinterpret_cast<void*>(&own_base), &own);
  return reinterpret_cast<uintptr_t>(own.dli_fbase);
}

void add_place(std::vector<uint64_t>& places, const void* address, bool is_return) {
  Dl_info info;
  if (!dladdr(address, &info) || reinterpret_cast<uintptr_t>(info.dli_fbase) != own_base()) return;
  places.push_back(reinterpret_cast<uintptr_t>(address) - own_base() - (is_return ? 1 : 0));
}

[[noreturn]] void fail(const char* rule, const std::string& message, const void* at) {
  fflush(stdout);
  std::vector<uint64_t> places;
  if (at) add_place(places, at, false);
  void* frames[64];
  const int n = backtrace(frames, 64);
  for (int i = 0; i < n; ++i) add_place(places, frames[i], true);
  Reply reply;
  reply.number(uint8_t{1}).string(rule).string(message);
  reply.number(static_cast<uint64_t>(places.size()));
  for (const uint64_t place : places) reply.number(place);
  reply.send();
  quit();
}

const char* signal_rule(int signal) {
  switch (signal) {
    case SIGFPE:
      return "gpsimd.arithmetic";
    case SIGABRT:
      return "gpsimd.abort";
    default:
      return "gpsimd.crash";
  }
}

void on_signal(int signal, siginfo_t* info, void* context) {
  std::string message;
  if (signal == SIGFPE) {
    message = "an integer is divided by zero";
  } else if (signal == SIGABRT) {
    message = "the operator's code called abort(), as a failed assert does";
  } else if (signal == SIGILL) {
    message = "the operator's code ran into an illegal instruction, as a function without return";
  } else {
    message = describe_address(info->si_addr);
  }
  const auto* machine = static_cast<ucontext_t*>(context);
#if defined(__x86_64__)
  const auto at = reinterpret_cast<const void*>(machine->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  const auto at = reinterpret_cast<const void*>(machine->uc_mcontext.pc);
#else
  const void* at = nullptr;
#endif
  fail(signal_rule(signal), message, at);
}

void catch_signals() {
  static char stack[1 << 18];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(signal, &action, nullptr);
}

std::vector<int64_t> read_sizes(Request& request) {
  std::vector<int64_t> sizes(request.number<uint8_t>());
  for (int64_t& size : sizes) size = request.number<int64_t>();
  return sizes;
}

Argument read_argument(Request& request) {
  Argument argument;
  if (static_cast<Kind>(request.number<int8_t>()) != Kind::kTensor) {
    const bool integer = request.number<uint8_t>() != 0;
    argument.number =
        integer ? c10::Scalar(request.number<int64_t>()) : c10::Scalar(request.number<double>());
    return argument;
  }
  const auto type = static_cast<c10::ScalarType>(request.number<int8_t>());
  const std::vector<int64_t> sizes = read_sizes(request);
  const auto bytes = request.number<uint64_t>();
  argument.tensor = new_tensor(type, sizes, request.take(bytes));
  return argument;
}

void add_shape(Reply& reply, const Storage& storage) {
  reply.number(static_cast<int8_t>(storage.type))
      .number(static_cast<uint8_t>(storage.sizes.size()));
  for (const int64_t size : storage.sizes) reply.number(size);
}

// The returned tensor is copied to the operator's result, unless that was written directly.
const Storage& result_of(const torch::Tensor& returned) {
  if (destination_used) return destination().storage();
  if (settings.cpus > 1)
    fault("gpsimd.multicore_result",
          "with multicore=True the result must be written to get_dst_tensor()");
  Storage& result = returned.storage();
  if (result.input) fault("gpsimd.input", "returns a tensor that was passed in; return a new one");
  if (destination().defined()) {
    const Storage& wanted = destination().storage();
    if (result.sizes != wanted.sizes || result.type != wanted.type)
      fault("gpsimd.shape",
            text("returns %s %s, but the shape function says %s %s", c10::name(result.type),
                 text(result.sizes).c_str(), c10::name(wanted.type), text(wanted.sizes).c_str()));
  }
  const int64_t bytes = result.elements * c10::element_bytes(result.type);
  if (bytes) transfer(bytes);
  return result;
}

Reply call_shape(Request& request, const Operator& op) {
  std::vector<Argument> arguments(request.number<uint8_t>());
  mode = Mode::kShape;
  for (Argument& argument : arguments) argument = read_argument(request);
  const torch::Tensor result = op.function.call(op.function.function, arguments);
  Reply reply;
  add_shape(reply.number(uint8_t{0}), result.storage());
  mode = Mode::kIdle;
  return reply;
}

Reply call_kernel(Request& request, const Operator& op) {
  counts = Counts();
  destination() = torch::Tensor();
  destination_used = false;
  if (request.number<uint8_t>()) {
    const auto type = static_cast<c10::ScalarType>(request.number<int8_t>());
    destination() = new_tensor(type, read_sizes(request));
  }
  std::vector<Argument> arguments(request.number<uint8_t>());
  for (Argument& argument : arguments) argument = read_argument(request);
  mode = Mode::kKernel;
  watch_stack(__builtin_frame_address(0));
  const torch::Tensor returned = op.function.call(op.function.function, arguments);
  mode = Mode::kIdle;
  const Storage& result = result_of(returned);
  Reply reply;
  add_shape(reply.number(uint8_t{0}), result);
  reply.number(counts.element_accesses).number(counts.transfers).number(counts.transfer_bytes);
  reply.number(counts.steps()).number(counts.stack_bytes);
  const auto& written = written_bytes(result);
  reply.number(static_cast<uint64_t>(written.size()));
  reply.raw(result.data, written.size()).raw(written.data(), written.size());
  return reply;
}

Reply list_operators() {
  Reply reply;
  reply.number(uint8_t{0}).number(static_cast<uint64_t>(operators().size()));
  for (const Operator& op : operators()) {
    reply.string(op.library).string(op.name).string(op.kernel);
    reply.number(static_cast<uint64_t>(op.function.parameters.size()));
    for (const Kind kind : op.function.parameters) reply.number(kind);
  }
  return reply;
}

enum class What : uint8_t { kList, kShape, kKernel };

Reply answer(Request& request) {
  const auto what = request.number<What>();
  if (what == What::kList) return list_operators();
  const Operator& op = operators()[request.number<uint32_t>()];
  return what == What::kShape ? call_shape(request, op) : call_kernel(request, op);
}

[[noreturn]] void on_exception(const char* what) {
  fail("gpsimd.exception", std::string("the operator's code threw ") + what, nullptr);
}

}  // namespace

void fault(const char* rule, const std::string& message) { fail(rule, message, nullptr); }

}  // namespace trnsim_gpsimd

using namespace trnsim_gpsimd;

torch::Tensor get_dst_tensor() {
  if (!destination().defined())
    fault("gpsimd.result", "get_dst_tensor() in an operator without a shape function");
  destination_used = true;
  return destination();
}

uint32_t get_cpu_id() { return static_cast<uint32_t>(settings.cpu); }
uint32_t get_cpu_count() { return static_cast<uint32_t>(settings.cpus); }

extern "C" int trnsim_serve(int requests, int replies, const int64_t* values) {
  request_pipe = requests;
  reply_pipe = replies;
  memcpy(&settings, values, sizeof settings);
  catch_signals();
  for (;;) {
    uint64_t size;
    read_all(&size, sizeof size);
    std::string bytes(size, '\0');
    read_all(&bytes[0], size);
    Request request(std::move(bytes));
    try {
      const Reply reply = answer(request);
      fflush(stdout);
      reply.send();
    } catch (const std::exception& error) {
      on_exception(error.what());
    } catch (...) {
      on_exception("what is no std::exception");
    }
    destination() = torch::Tensor();
    forget_memory();
  }
}
