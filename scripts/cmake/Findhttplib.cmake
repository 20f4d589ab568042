# SPDX-License-Identifier: Apache-2.0
# find_package(httplib 0.41 REQUIRED): cpp-httplib as one header, target httplib::httplib, without
# OpenSSL and compression. Looks in RINGSCOPE_HTTPLIB_DIR, then where scripts/setup put it; not in
# the system, whose older versions are not fit for a network (Debian 12 has 0.11).
# Include the header in one source file only: it takes half a minute to compile.
include(RingscopeCache)
find_path(
  RINGSCOPE_HTTPLIB_DIR httplib.h
  PATHS "$ENV{RINGSCOPE_HTTPLIB_DIR}" "${RINGSCOPE_CACHE}/httplib"
  NO_DEFAULT_PATH
  DOC "The folder that holds httplib.h")

if(RINGSCOPE_HTTPLIB_DIR)
  file(STRINGS "${RINGSCOPE_HTTPLIB_DIR}/httplib.h" line REGEX "define CPPHTTPLIB_VERSION \"")
  string(REGEX REPLACE ".*\"(.*)\".*" "\\1" httplib_VERSION "${line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  httplib
  REQUIRED_VARS RINGSCOPE_HTTPLIB_DIR
  VERSION_VAR httplib_VERSION
  REASON_FAILURE_MESSAGE "run scripts/setup, or set RINGSCOPE_HTTPLIB_DIR to a folder with a \
httplib.h of version ${httplib_FIND_VERSION} or newer")

if(httplib_FOUND AND NOT TARGET httplib::httplib)
  find_package(Threads REQUIRED)
  add_library(httplib::httplib INTERFACE IMPORTED)
  target_include_directories(httplib::httplib SYSTEM INTERFACE "${RINGSCOPE_HTTPLIB_DIR}")
  target_link_libraries(httplib::httplib INTERFACE Threads::Threads)
endif()
