# Which way the folders may depend on each other: fails when a source includes what it may not.
#   cmake -D ROOT=folder -P layering.cmake
set(failures 0)

# Every line of the folder's sources that matches `pattern` is a violation.
function(forbid folder pattern why)
  file(GLOB_RECURSE sources "${ROOT}/${folder}/*.hpp" "${ROOT}/${folder}/*.cpp" "${ROOT}/${folder}/*.cu")
  list(FILTER sources EXCLUDE REGEX "/(node_modules|sdl2)/")
  foreach(source IN LISTS sources)
    list(FIND ARGN "${source}" allowed)
    if(NOT allowed EQUAL -1)
      continue()
    endif()
    file(STRINGS "${source}" lines REGEX "${pattern}")
    foreach(line IN LISTS lines)
      file(RELATIVE_PATH name "${ROOT}" "${source}")
      message(SEND_ERROR "${name}: '${line}' - ${why}")
    endforeach()
  endforeach()
endfunction()

set(include "^ *# *include *")
forbid(shared "${include}<(thread|mutex|atomic|chrono|iostream|fstream|filesystem|random|future|condition_variable)>"
       "shared/ knows no clock, thread, file or chance")
forbid(shared "${include}<(unordered_map|unordered_set|cmath|locale)>" "differs between standard libraries, so traces would")
forbid(shared "${include}[<\"](SDL|emscripten|httplib|nlohmann|CLI|cuda|mpi|nccl|sys/|unistd)" "shared/ knows the standard library only")
forbid(shared "${include}\"(native|web|kernels|tests)/" "shared/ depends on nothing")
forbid(kernels "${include}[<\"](native|web|tests)/" "kernels/ knows shared/ only")
forbid(native "${include}[<\"](web/|tests/|SDL|emscripten)" "native/ knows shared/ and kernels/ only")
forbid(web "${include}[<\"](native|kernels|tests)/" "web/ knows shared/ only")
forbid(web "${include}[<\"](httplib|emscripten)" "only web/platform_web.cpp touches the browser" "${ROOT}/web/platform_web.cpp")
