# SPDX-License-Identifier: Apache-2.0
# What the scripts beside this file share: where things lie, and how progress is told.
# Source it; it needs bash only. Sets $root, $cache (what setup fetches) and $log_folder.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${RINGSCOPE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ringscope}
log_folder=$root/build/log

die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Prints the comment at the head of the calling script, without its marks.
usage() { sed -n '3,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$0"; }

# version_at_least HAVE WANTED: true when HAVE, e.g. 3.25.1, is not older than WANTED.
version_at_least() {
  [[ -n $1 && $(printf '%s\n' "$@" | sort --version-sort | head -n 1) == "$2" ]]
}

# stage NAME "words for a person" COMMAND...: one line of progress; the command's own words go to
# a log, whose tail is shown when the command fails. Returns the command's exit status. Bash ignores
# `set -e` inside a condition, so a function called by `stage ... ||` joins its steps with &&.
stage() {
  local log=$log_folder/$1.log begin=$SECONDS status=0
  mkdir -p "$log_folder"
  printf '%s ... ' "$2"
  set +e
  (
    set -e
    shift 2
    "$@"
  ) >"$log" 2>&1 </dev/null
  status=$?
  set -e
  if [[ $status == 0 ]]; then
    printf '%d s\n' $((SECONDS - begin))
  else
    printf 'FAILED after %d s; the end of %s:\n' $((SECONDS - begin)) "$log"
    tail -n "${STAGE_TAIL:-30}" "$log" | sed 's/^/  | /'
  fi
  return "$status"
}
