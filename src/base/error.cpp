#include "base/error.h"

namespace trnsim {

std::string_view fault_name(Fault fault) {
  switch (fault) {
    case Fault::kProgram:
      return "ProgramError";
    case Fault::kUnsupported:
      return "Unsupported";
    case Fault::kUnimplemented:
      return "Unimplemented";
    case Fault::kMissingSpec:
      return "MissingSpec";
    case Fault::kConfig:
      return "ConfigError";
    case Fault::kInternal:
      return "InternalError";
  }
  return "Error";
}

}  // namespace trnsim
