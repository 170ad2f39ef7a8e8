# shellcheck shell=bash
# What the scripts in this folder share. Sourced, not run: it sets variables and defines functions, nothing else.

# The project's root folder, whatever the current one is.
project_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# How many compilers or test programs run at a time.
jobs=$(nproc)
export project_root jobs

# say TEXT...: one line of progress on standard output.
say() { printf '== %s\n' "$*"; }

# die TEXT...: the reason in one line on standard error, and exit status 1.
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# expect_words LEAST MOST WORD...: the words of the script, before it does anything. `--help` prints the comment at its
# head and ends it; so do, with exit status 2 and on standard error, fewer words than LEAST or more than MOST (- for any).
expect_words() {
  local least=$1 most=$2
  shift 2
  local show_head=(sed -n '2,$ { /^#/! q; s/^# \{0,1\}//p }' "$0")
  if [[ ${1-} == --help ]]; then "${show_head[@]}" && exit 0; fi
  if [[ $most == - ]]; then most=$#; fi
  if (($# < least || $# > most)); then "${show_head[@]}" >&2 && exit 2; fi
}

# step NAME COMMAND...: runs a command without standard input; if it fails, so does the script, naming the step.
step() {
  local name=$1
  shift
  say "$name"
  "$@" </dev/null || die "$name failed (exit status $?): $*"
}

# configure NAME [OPTION...]: configures build/NAME with the options of cmake/NAME.cmake and more, and with ccache where
# there is one.
configure() {
  local options=("${@:2}")
  if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  cmake -C "$project_root/cmake/$1.cmake" -S "$project_root" -B "$project_root/build/$1" -G Ninja "${options[@]}"
}

# Lets mpirun start any number of ranks on this one machine, as any user. For trying out and testing, not for a cluster.
allow_local_ranks() {
  # Open MPI refuses to run as root unless told twice; containers and CI machines often have no other user.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  # It also refuses more ranks than cores. Ranks that share a core then yield while they wait.
  export OMPI_MCA_rmaps_base_oversubscribe=1
  # Containers usually forbid one process to read the memory of another, which Open MPI tries for large messages.
  export OMPI_MCA_btl_vader_single_copy_mechanism=none
}
