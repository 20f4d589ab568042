# SPDX-License-Identifier: Apache-2.0
# Toolchain file of the wasm preset. Takes the Emscripten of EMSCRIPTEN_ROOT, else the one that
# scripts/setup wrote down, else the one on PATH; hands over to the toolchain file in there, which
# also makes CTest run the programs under node.
include("${CMAKE_CURRENT_LIST_DIR}/RingscopeCache.cmake")
set(root "$ENV{EMSCRIPTEN_ROOT}")
if(NOT root AND EXISTS "${RINGSCOPE_CACHE}/env.sh")
  file(STRINGS "${RINGSCOPE_CACHE}/env.sh" root REGEX "EMSCRIPTEN_ROOT='")
  string(REGEX REPLACE ".*='(.*)'" "\\1" root "${root}")
endif()
if(NOT root)
  find_program(emcc emcc NO_CACHE)
  cmake_path(GET emcc PARENT_PATH root)
endif()
set(toolchain "${root}/cmake/Modules/Platform/Emscripten.cmake")
if(NOT EXISTS "${toolchain}")
  message(FATAL_ERROR "No Emscripten found; run scripts/setup, or set EMSCRIPTEN_ROOT to the "
                      "folder that holds emcc")
endif()
include("${toolchain}")
