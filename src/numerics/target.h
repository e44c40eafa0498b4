// TRNSIM_MULTIVERSION: compile one function for several x86 vector widths and let the loader pick.
// Only for loops whose results cannot depend on the width: no reassociation, no contraction (the
// build has -ffp-contract=off). Helpers called inside must be TRNSIM_ALWAYS_INLINE, or they keep
// the baseline instruction set. Falls away on other architectures, on Clang, and under sanitizers
// (whose runtime is not up when resolvers run).
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__ELF__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TRNSIM_MULTIVERSION \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TRNSIM_MULTIVERSION
#endif

#define TRNSIM_ALWAYS_INLINE inline __attribute__((always_inline))

// Before a loop whose output may be one of its inputs, element for element, and overlaps nothing
// otherwise. Clang has no such word.
#if defined(__clang__)
#define TRNSIM_IVDEP
#else
#define TRNSIM_IVDEP _Pragma("GCC ivdep")
#endif
