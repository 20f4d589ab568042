# SPDX-License-Identifier: Apache-2.0
# ringscope_enable_cuda(RESULT) decides by RINGSCOPE_CUDA (ON, OFF, AUTO) whether .cu files can be
# compiled, makes CMake ready for them, and sets RESULT. Call it once, in kernels/CMakeLists.txt.
#
# ringscope_cuda_options(TARGET) gives a target with .cu files C++20 and the static CUDA library, so
# that the program starts on a machine that has no CUDA.

macro(ringscope_enable_cuda result)
  set(${result} FALSE)
  if(RINGSCOPE_CUDA)
    include(CheckLanguage)
    # The four generations worth a ring; the last one also runs on what comes after it.
    # CMake would try architectures that CUDA 13 no longer knows.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
      set(CMAKE_CUDA_ARCHITECTURES "80-real;90-real;100-real;120")
    endif()
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
      enable_language(CUDA)
      find_package(CUDAToolkit REQUIRED)
      set(${result} TRUE)
    elseif(RINGSCOPE_CUDA STREQUAL "AUTO")
      message(STATUS "CUDA engine off: no nvcc found")
    else()
      message(FATAL_ERROR "RINGSCOPE_CUDA is ON and there is no nvcc on PATH or in CUDACXX")
    endif()
  else()
    message(STATUS "CUDA engine off: RINGSCOPE_CUDA is OFF")
  endif()
endmacro()

function(ringscope_cuda_options target)
  if("cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
    target_compile_features(${target} PUBLIC cuda_std_20)
  else() # CMake 3.25 does not know that this nvcc can, and would silently take C++17.
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>")
  endif()
  set_target_properties(${target} PROPERTIES CUDA_RUNTIME_LIBRARY Static)
  target_link_libraries(${target} PRIVATE CUDA::cudart_static)
endfunction()
