# Compiler flags of every target of ours.
# -ffp-contract=off: results must not depend on whether the host happens to fuse a multiply and an add.
option(TRNSIM_WERROR "Warnings are errors" OFF)
add_library(trnsim_warnings INTERFACE)
target_compile_options(trnsim_warnings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -ffp-contract=off
                                                 $<$<BOOL:${TRNSIM_WERROR}>:-Werror>)
