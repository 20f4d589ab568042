# Compiles each kernel for each architecture and looks at what came out: 128-bit loads and stores in
# place of 32-bit ones in the hot loop, and no registers spilled to memory.
file(MAKE_DIRECTORY "${SCRATCH}")
foreach(architecture 80 90 100)
  execute_process(
    COMMAND "${NVCC}" -ccbin "${HOST}" -std=c++20 -O3 -I "${ROOT}" -arch=sm_${architecture} -Xptxas -v --keep --keep-dir "${SCRATCH}"
            -c "${ROOT}/kernels/reduce.cu" -o "${SCRATCH}/reduce.o"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "reduce.cu does not compile for sm_${architecture}:\n${output}")
  endif()
  if(NOT output MATCHES "0 bytes spill stores, 0 bytes spill loads")
    message(SEND_ERROR "sm_${architecture}: registers are spilled:\n${output}")
  endif()
  file(STRINGS "${SCRATCH}/reduce.ptx" loads REGEX "ld\\.global[.a-z]*\\.v4\\.[fb]32|ld\\.global[.a-z]*\\.v2\\.[bu]64")
  file(STRINGS "${SCRATCH}/reduce.ptx" stores REGEX "st\\.global\\.v4\\.[fb]32|st\\.global\\.v2\\.[bu]64")
  list(LENGTH loads load_count)
  list(LENGTH stores store_count)
  message(STATUS "sm_${architecture}: ${load_count} 128-bit loads, ${store_count} 128-bit stores, no spills")
  # Four of each operand in the unrolled loop and one of each in the loop for the rest.
  if(load_count LESS 10 OR store_count LESS 5)
    message(SEND_ERROR "sm_${architecture}: the hot loop does not use 128-bit loads and stores")
  endif()
endforeach()
file(REMOVE_RECURSE "${SCRATCH}")
