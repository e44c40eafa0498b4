# One library per folder under src/. Sources include headers by full path ("isa/operand.h"), yet a layer sees only
# the layers it names: each layer's include directory holds a single link to its own folder, so an include that
# points against the arrows does not find its file. tests/compile_fail holds the proof.
#
#   trnsim_layer(isa SOURCES operand.cpp USES memory numerics)
#
# COLD: the sources run once per command, so how fast they compile matters more than how fast they run.
# PRECOMPILED: headers that every source includes and that take long to read.
#
# A layer may use only layers that src/CMakeLists.txt names before it.
function(trnsim_layer name)
  cmake_parse_arguments(LAYER "COLD" "" "SOURCES;USES;PRIVATE_LIBRARIES;PUBLIC_LIBRARIES;PRECOMPILED" ${ARGN})
  if(LAYER_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "trnsim_layer(${name}): not understood: ${LAYER_UNPARSED_ARGUMENTS}")
  endif()
  foreach(used IN LISTS LAYER_USES)
    if(NOT TARGET trnsim_${used})
      message(FATAL_ERROR "The layer ${name} uses ${used}, but src/CMakeLists.txt names no such layer before it: "
                          "arrows between layers point down only.")
    endif()
  endforeach()

  set(view ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${view}/${name} SYMBOLIC)

  add_library(trnsim_${name} STATIC ${LAYER_SOURCES})
  target_include_directories(trnsim_${name} PUBLIC ${view})
  list(TRANSFORM LAYER_USES PREPEND trnsim_)
  target_link_libraries(trnsim_${name} PUBLIC ${LAYER_USES} ${LAYER_PUBLIC_LIBRARIES}
                                       PRIVATE ${LAYER_PRIVATE_LIBRARIES} trnsim_warnings)
  if(LAYER_COLD AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(trnsim_${name} PRIVATE -O1)
  endif()
  if(LAYER_PRECOMPILED)
    target_precompile_headers(trnsim_${name} PRIVATE ${LAYER_PRECOMPILED})
  endif()
endfunction()
