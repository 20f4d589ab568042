# SPDX-License-Identifier: Apache-2.0
# ringscope_enable_cuda() decides by RINGSCOPE_CUDA (ON, OFF, AUTO) whether .cu files are compiled,
# makes CMake ready for them and sets RINGSCOPE_HAS_CUDA. The root calls it, because everything
# that links a CUDA library has to know of the language.
#
# ringscope_cuda_options(TARGET) gives a target with .cu files C++20 and the static CUDA runtime, so
# that the program starts on a machine without CUDA.

macro(ringscope_enable_cuda)
  set(RINGSCOPE_HAS_CUDA FALSE)
  if(RINGSCOPE_CUDA)
    # The generations a ring is run on; the last one also serves what comes after it. CMake 3.25
    # would try some that CUDA 13 no longer knows.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
      set(CMAKE_CUDA_ARCHITECTURES "80-real;90-real;100-real;120")
    endif()
    include(CheckLanguage)
    if(NOT CMAKE_CUDA_COMPILER) # Look again: it may have been installed since.
      unset(CMAKE_CUDA_COMPILER CACHE)
    endif()
    set(CMAKE_MESSAGE_LOG_LEVEL WARNING)
    check_language(CUDA)
    unset(CMAKE_MESSAGE_LOG_LEVEL)
    if(CMAKE_CUDA_COMPILER)
      enable_language(CUDA)
      find_package(CUDAToolkit REQUIRED)
      set(RINGSCOPE_HAS_CUDA TRUE)
    elseif(RINGSCOPE_CUDA STREQUAL "AUTO")
      message(STATUS "CUDA engine off: no nvcc found")
    else()
      message(FATAL_ERROR "RINGSCOPE_CUDA is ON, and there is no nvcc on PATH or in CUDACXX")
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
