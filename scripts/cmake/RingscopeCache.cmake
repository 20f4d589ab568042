# SPDX-License-Identifier: Apache-2.0
# RINGSCOPE_CACHE: the folder scripts/setup fills with what is not in git, as scripts/lib.sh has it.
if(DEFINED ENV{RINGSCOPE_CACHE})
  set(RINGSCOPE_CACHE "$ENV{RINGSCOPE_CACHE}")
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(RINGSCOPE_CACHE "$ENV{XDG_CACHE_HOME}/ringscope")
else()
  set(RINGSCOPE_CACHE "$ENV{HOME}/.cache/ringscope")
endif()
