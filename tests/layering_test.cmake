# Shows that layering.cmake fails on each kind of violation and passes on a clean tree.
#   cmake -D SCRATCH=folder -P layering_test.cmake
function(check expected path line)
  file(REMOVE_RECURSE "${SCRATCH}")
  file(WRITE "${SCRATCH}/${path}" "${line}\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -D "ROOT=${SCRATCH}" -P "${CMAKE_CURRENT_LIST_DIR}/layering.cmake"
                  RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if((status EQUAL 0 AND expected STREQUAL "refused") OR (NOT status EQUAL 0 AND expected STREQUAL "allowed"))
    message(SEND_ERROR "${path} with ${line} must be ${expected}")
  endif()
endfunction()

check(allowed shared/a.cpp "#include <vector>")
check(refused shared/a.cpp "#include <thread>")
check(refused shared/deep/a.hpp "#include <unordered_map>")
check(refused shared/a.cpp "#include \"native/server.hpp\"")
check(refused kernels/a.cu "#include \"native/server.hpp\"")
check(refused native/a.cpp "#include <SDL.h>")
check(refused web/a.cpp "#include <emscripten.h>")
check(allowed web/platform_web.cpp "#include <emscripten.h>")
check(refused web/a.cpp "#include \"kernels/reduce.hpp\"")
file(REMOVE_RECURSE "${SCRATCH}")
