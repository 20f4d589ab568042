# SPDX-License-Identifier: Apache-2.0
# ringscope_add_test(NAME SOURCE... [LIBRARIES target...] [LABELS label...] [TIMEOUT seconds])
# makes one GoogleTest program whose test cases CTest runs and counts one by one, natively and,
# under node, as WebAssembly. A test may read files; RINGSCOPE_SOURCE_DIR is the checkout's path.

# GTest::gtest_main: the system's natively, compiled from the packaged source for WebAssembly.
function(ringscope_provide_gtest)
  if(TARGET GTest::gtest_main)
    return()
  endif()
  if(NOT EMSCRIPTEN)
    find_package(GTest REQUIRED GLOBAL)
    return()
  endif()
  set(RINGSCOPE_GTEST_DIR /usr/src/googletest/googletest CACHE PATH "GoogleTest's source")
  if(NOT EXISTS "${RINGSCOPE_GTEST_DIR}/src/gtest-all.cc")
    message(FATAL_ERROR "No GoogleTest source in '${RINGSCOPE_GTEST_DIR}'; run scripts/setup, or "
                        "set RINGSCOPE_GTEST_DIR")
  endif()
  add_library(ringscope_gtest STATIC "${RINGSCOPE_GTEST_DIR}/src/gtest-all.cc"
                                     "${RINGSCOPE_GTEST_DIR}/src/gtest_main.cc")
  target_compile_features(ringscope_gtest PUBLIC cxx_std_20)
  target_compile_definitions(ringscope_gtest PUBLIC GTEST_HAS_PTHREAD=0)
  target_include_directories(ringscope_gtest PRIVATE "${RINGSCOPE_GTEST_DIR}")
  target_include_directories(ringscope_gtest SYSTEM PUBLIC "${RINGSCOPE_GTEST_DIR}/include")
  add_library(GTest::gtest_main ALIAS ringscope_gtest)
endfunction()

function(ringscope_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "LIBRARIES;LABELS")
  ringscope_provide_gtest()
  include(GoogleTest)
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_compile_features(${name} PRIVATE cxx_std_20)
  target_compile_definitions(${name} PRIVATE RINGSCOPE_SOURCE_DIR="${ringscope_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest_main ringscope_warnings)
  # Tests take longer to compile than to run; what they test is a library with optimization of its own.
  target_compile_options(${name} PRIVATE $<IF:$<BOOL:${EMSCRIPTEN}>,-O1,-O0>)
  target_precompile_headers(${name} PRIVATE <gtest/gtest.h> <map> <string> <vector>)
  if(EMSCRIPTEN) # Linked fast rather than small.
    target_link_options(${name} PRIVATE -O1 -sENVIRONMENT=node -sNODERAWFS=1 -sEXIT_RUNTIME=1
                        -sALLOW_MEMORY_GROWTH=1 -sSTACK_SIZE=1MB)
  endif()
  set(properties)
  if(arg_TIMEOUT)
    set(properties PROPERTIES TIMEOUT ${arg_TIMEOUT})
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 ${properties})
  if(arg_LABELS) # Not as a property above: there a second label would be lost.
    set(script "${CMAKE_CURRENT_BINARY_DIR}/${name}_labels.cmake")
    file(WRITE "${script}"
         "set_tests_properties(\${${name}_TESTS} PROPERTIES LABELS \"${arg_LABELS}\")\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${script}")
  endif()
endfunction()
