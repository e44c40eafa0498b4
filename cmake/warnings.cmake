# Compiler flags of every target of ours.
# -ffp-contract=off: results must not depend on whether the host happens to fuse a multiply and an add.
# The two warnings left out are GCC's guesses after inlining, wrong inside std::vector and std::string (GCC 12 and 14);
# the preset asan finds the real cases.
option(TRNSIM_WERROR "Warnings are errors" OFF)
add_library(trnsim_warnings INTERFACE)
target_compile_options(trnsim_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -ffp-contract=off
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow -Wno-restrict>
  $<$<BOOL:${TRNSIM_WERROR}>:-Werror>)
