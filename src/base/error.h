// Errors, told apart by whose fault they are. Every message says what happened, where, why and what
// to do; the fields repeat the parts for machines. Libraries throw; only the command line turns a
// category into an exit code.
#pragma once

#include <fmt/core.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace trnsim {

enum class Fault {
  kProgram,        // the kernel broke a rule of the hardware or of the language
  kUnsupported,    // outside what the simulator does, on purpose
  kUnimplemented,  // planned, not there yet
  kMissingSpec,    // no public document says what the hardware does
  kConfig,         // a bad file, option or name given by the user
  kInternal,       // a defect of the simulator
};

// "ProgramError", "Unsupported", ...: the class name that Python users see.
std::string_view fault_name(Fault fault);

class Error : public std::exception {
 public:
  Error(Fault fault, std::string message, std::string rule = {})
      : fault_(fault), message_(std::move(message)), rule_(std::move(rule)) {}

  const char* what() const noexcept override { return message_.c_str(); }
  Fault fault() const { return fault_; }
  const std::string& message() const { return message_; }
  // The id of the broken rule, such as "nc_matmul.moving_free"; empty where no rule has an id.
  const std::string& rule() const { return rule_; }

 private:
  Fault fault_;
  std::string message_;
  std::string rule_;
};

template <class... Args>
[[noreturn]] void program_error(std::string_view rule, fmt::format_string<Args...> text,
                                Args&&... args) {
  throw Error(Fault::kProgram, fmt::format(text, std::forward<Args>(args)...), std::string(rule));
}

template <class... Args>
[[noreturn]] void unsupported(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(Fault::kUnsupported,
              "Unsupported: " + fmt::format(text, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void config_error(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(Fault::kConfig, fmt::format(text, std::forward<Args>(args)...));
}

template <class... Args>
[[noreturn]] void internal_error(fmt::format_string<Args...> text, Args&&... args) {
  throw Error(Fault::kInternal,
              "Internal error: " + fmt::format(text, std::forward<Args>(args)...) +
                  ". This is a defect of trnsim; please report it with the script that led here.");
}

}  // namespace trnsim
