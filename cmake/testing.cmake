# Unit tests and micro benchmarks: which layers they use, and nothing more.
include(GoogleTest)

# trnsim_test(<name> SOURCES <files> USES <layers> [LIBRARIES <targets>] [SLOW])
# Builds the program unit_<name>; each of its cases becomes the CTest "<name>/<Suite>.<case>". Tests run in the source
# folder, so "hardware/..." opens the catalogue. SLOW, for what takes more than a second or two, keeps it out of
# `make fast`.
function(trnsim_test name)
  cmake_parse_arguments(TEST "SLOW" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  if(TEST_UNPARSED_ARGUMENTS OR NOT TEST_SOURCES OR NOT TEST_USES)
    message(FATAL_ERROR "trnsim_test(${name}): needs SOURCES and USES; not understood: ${TEST_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(unit_${name} ${TEST_SOURCES})
  list(TRANSFORM TEST_USES PREPEND trnsim_)
  target_link_libraries(unit_${name} PRIVATE ${TEST_USES} ${TEST_LIBRARIES} GTest::gtest_main GTest::gmock
                                             trnsim_warnings)
  set(label unit)
  if(TEST_SLOW)
    set(label slow)
  endif()
  gtest_discover_tests(unit_${name}
    TEST_PREFIX "${name}/"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DISCOVERY_TIMEOUT 120
    PROPERTIES TIMEOUT 300 LABELS ${label})
endfunction()

# trnsim_bench(<name> SOURCES <files> USES <layers>): the program bench_<name>, run by `make bench`.
function(trnsim_bench name)
  cmake_parse_arguments(BENCH "" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  if(BENCH_UNPARSED_ARGUMENTS OR NOT BENCH_SOURCES OR NOT BENCH_USES)
    message(FATAL_ERROR "trnsim_bench(${name}): needs SOURCES and USES; not understood: ${BENCH_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(bench_${name} ${BENCH_SOURCES})
  list(TRANSFORM BENCH_USES PREPEND trnsim_)
  target_link_libraries(bench_${name} PRIVATE ${BENCH_USES} ${BENCH_LIBRARIES} benchmark::benchmark_main
                                              trnsim_warnings)
  if(NOT TARGET run_benchmarks)
    add_custom_target(run_benchmarks)
  endif()
  add_custom_target(run_bench_${name} COMMAND bench_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL)
  add_dependencies(run_benchmarks run_bench_${name})
endfunction()
