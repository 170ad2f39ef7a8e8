#!/bin/bash
# cpt_dist under Slurm. Submitted once, it goes on over time limits, pre-emption and lost nodes until the model is
# there.
#
#   sbatch slurm.sh                                         with the lines below edited
#   DATA=train RUN=runs/ads sbatch --ntasks=64 slurm.sh     or without
#   sbatch --array=1-20%1 slurm.sh                          a chain of pieces, where jobs may not be requeued
#
#SBATCH --job-name=cpt_dist
#SBATCH --ntasks=4
#SBATCH --time=24:00:00
#SBATCH --output=cpt_dist-%j.out
#SBATCH --open-mode=append
#SBATCH --requeue
# USR1 to this script alone (B:), so many seconds before the time is up: more than a checkpoint takes, plus a minute.
#SBATCH --signal=B:USR1@180

# --help, or any other word, shows the comment above. Only a job goes on.
if (($# > 0)); then
  show_head=(sed -n '2,$ { /^#SBATCH/ q; s/^# \{0,1\}//p }' "$0")
  if [[ $1 == --help || $1 == -h ]]; then "${show_head[@]}" && exit 0; fi
  "${show_head[@]}" >&2
  exit 2
fi
if [[ -z ${SLURM_JOB_ID-} ]]; then
  printf '%s is a job of Slurm: submit it with sbatch %s\n' "${0##*/}" "$0" >&2
  exit 2
fi

# What to run. What the environment sets already stays.
: "${RANKS:=${SLURM_NTASKS:-4}}"
: "${DATA:=train}"                          # a file, a folder, or a quoted pattern
: "${RUN:=runs/cpt_dist}"                   # on a file system that all nodes share
: "${OPTIONS:=--checkpoint-every 10m}"      # more options of cpt_dist, separated by spaces
: "${CPT_DIST:=cpt_dist}"                   # the program, if it is not on the path
: "${MPIRUN_OPTIONS:=}"

say() { printf '%s job %s: %s\n' "$(date '+%F %T')" "$SLURM_JOB_ID" "$*"; }

if [[ -e $RUN/summary.json ]]; then
  say "$RUN/summary.json is there, so nothing is left to do"
  exit 0
fi

child='' interrupted='' asked=''
# ask REASON: mpirun passes USR2 on to all ranks, which write a checkpoint and exit with 75. An end stays one: the notice
# may come after it.
ask() {
  if [[ $asked != stop ]]; then asked=$1; fi
  interrupted=yes
  if [[ -n $child ]]; then kill -USR2 "$child" 2>/dev/null; fi
}
# Time is nearly up, or Slurm announces pre-emption: this script has the job requeued.
trap 'ask requeue' USR1
# Slurm ends the job and has decided what comes next: nothing (scancel), or a requeue of its own (pre-emption).
# To requeue here would bring cancelled jobs back.
trap 'ask stop' TERM USR2

# start COMMAND...: in this process, deaf to TERM. Slurm sends it to all processes of a job, and mpirun would kill the
# ranks two seconds later, in mid-checkpoint. Those still hear it: mpirun unblocks signals for its children.
start() {
  if env --block-signal=TERM true 2>/dev/null; then exec env --block-signal=TERM "$@"; fi
  exec "$@"
}

# Where pre-emption has requeued the job, and the end is on its way, there is nothing to do.
requeue() {
  local reason
  if reason=$(scontrol requeue "$SLURM_JOB_ID" 2>&1); then return; fi
  case $reason in
    *"pending execution"*) say "is queued already" ;;
    *)
      printf '%s\n' "$reason" >&2
      say "cannot be requeued; submit it again with the same RUN, and it goes on"
      ;;
  esac
}

read -ra options <<<"$OPTIONS"
read -ra mpirun_options <<<"$MPIRUN_OPTIONS"
say "$RANKS ranks, restart ${SLURM_RESTART_COUNT:-0}, $RUN"
start mpirun "${mpirun_options[@]}" -n "$RANKS" "$CPT_DIST" --resume --data "$DATA" --run "$RUN" "${options[@]}" &
child=$!
if [[ -n $asked ]]; then ask "$asked"; fi  # it was asked for before there was anybody to ask

# A trap ends `wait` early, with a status that is not the child's.
while :; do
  interrupted=
  wait "$child"
  status=$?
  if [[ -z $interrupted ]]; then break; fi
done
say "exit status $status${asked:+, asked to $asked}"

# Above 128: the signal came before the ranks listened, or they were too slow. There is the checkpoint before.
if [[ $asked == requeue ]] && ((status > 128)); then status=75; fi
if [[ $asked != stop ]] && ((status == 75)); then requeue; fi
exit "$status"
