# shellcheck shell=bash
# Variables and functions of the scripts in this folder, which source this file.

# The project's root folder, whatever the current one is.
project_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# How many compilers or test programs run at a time: JOBS, or one for each core.
jobs=${JOBS:-$(nproc)}
export project_root jobs

# say TEXT...: one line of progress on standard output.
say() { printf '== %s\n' "$*"; }

# die TEXT...: the reason in one line on standard error, and exit status 1.
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# expect_words LEAST MOST WORD...: checks the arguments of a script. `--help` prints the comment at the top of the script
# and exits. Fewer arguments than LEAST or more than MOST (- for any number) print it to standard error and exit with 2.
expect_words() {
  local least=$1 most=$2
  shift 2
  local show_head=(sed -n '2,$ { /^#/! q; s/^# \{0,1\}//p }' "$0")
  if [[ ${1-} == --help ]]; then "${show_head[@]}" && exit 0; fi
  if [[ $most == - ]]; then most=$#; fi
  if (($# < least || $# > most)); then "${show_head[@]}" >&2 && exit 2; fi
}

# step NAME COMMAND...: runs a command without standard input; if it fails, ends the script with the name of the step.
step() {
  local name=$1
  shift
  say "$name"
  "$@" </dev/null || die "$name failed (exit status $?): $*"
}

# configure NAME [OPTION...]: configures build/NAME with cmake/NAME.cmake and the options, and with ccache if installed.
configure() {
  local options=("${@:2}")
  if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  cmake -C "$project_root/cmake/$1.cmake" -S "$project_root" -B "$project_root/build/$1" -G Ninja "${options[@]}"
}

# Lets mpirun start any number of ranks on this machine, as any user. For demos and tests, not for a cluster.
allow_local_ranks() {
  # Open MPI runs as root only with both of these; containers and CI machines often have no other user.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  # By default it refuses more ranks than cores. With this, ranks that share a core yield while they wait.
  export OMPI_MCA_rmaps_base_oversubscribe=1
  # Containers usually forbid processes to read each other's memory, which Open MPI tries for large messages.
  export OMPI_MCA_btl_vader_single_copy_mechanism=none
}
