# Programs that make the build faster or stricter; none of them changes what is built.

# Hits survive a clone into another folder: paths below the source folder count as relative.
find_program(TRNSIM_CCACHE ccache)
mark_as_advanced(TRNSIM_CCACHE)
if(TRNSIM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
                                  ${TRNSIM_CCACHE})
endif()

option(TRNSIM_TIDY "Run clang-tidy beside the compiler (the preset tidy sets it)" OFF)
if(TRNSIM_TIDY)
  find_program(TRNSIM_CLANG_TIDY clang-tidy-19)
  if(NOT TRNSIM_CLANG_TIDY)
    message(FATAL_ERROR "clang-tidy-19 was not found. On Debian: apt-get install clang-tidy-19")
  endif()
  set(CMAKE_CXX_CLANG_TIDY ${TRNSIM_CLANG_TIDY} --quiet --extra-arg=-Wno-unknown-warning-option)
endif()
