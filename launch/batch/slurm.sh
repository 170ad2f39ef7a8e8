#!/bin/bash
# cpt_dist under Slurm. Submit it once: after time limits, pre-emption and lost nodes it continues until the model is
# trained.
#
#   sbatch slurm.sh                                         with the lines below edited
#   DATA=train RUN=runs/ads sbatch --ntasks=64 slurm.sh     or without
#   sbatch --array=1-20%1 slurm.sh                          a chain of jobs, if they may not be requeued
#
#SBATCH --job-name=cpt_dist
#SBATCH --ntasks=4
#SBATCH --time=24:00:00
#SBATCH --output=cpt_dist-%j.out
#SBATCH --open-mode=append
#SBATCH --requeue
# Send USR1 to this script alone (B:) this many seconds before the time limit. Allow for a checkpoint plus a minute.
#SBATCH --signal=B:USR1@180

# With arguments such as --help, print the comment above. Outside a job, say how to submit this file.
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

# What to run. Variables of the environment take precedence.
: "${RANKS:=${SLURM_NTASKS:-4}}"
: "${DATA:=train}"                          # a file, a folder, or a quoted pattern
: "${RUN:=runs/cpt_dist}"                   # on a file system that all nodes share
: "${OPTIONS:=--checkpoint-every 10m}"      # more options of cpt_dist, separated by white space
: "${CPT_DIST:=cpt_dist}"                   # the program, if it is not on the path
: "${MPIRUN_OPTIONS:=}"

say() { printf '%s job %s: %s\n' "$(date '+%F %T')" "$SLURM_JOB_ID" "$*"; }
# Complete checkpoints, by name.
checkpoints() { ls -d "$RUN"/checkpoints/*/MANIFEST 2>/dev/null; }

if [[ -e $RUN/summary.json ]]; then
  say "$RUN/summary.json exists: the run is finished"
  exit 0
fi

child='' interrupted='' asked='' reminder=''
# remind: repeats the request until mpirun is gone, since mpirun or a rank that is just starting may miss it.
remind() {
  trap '' USR1 USR2 TERM
  while sleep 5 && kill -USR2 "$child"; do :; done
}
# ask REASON: mpirun passes USR2 on to all ranks, which write a checkpoint and exit with 75. A notice that follows an end
# does not cancel it.
ask() {
  if [[ $asked != stop ]]; then asked=$1; fi
  interrupted=yes
  if [[ -n $child ]]; then kill -USR2 "$child" 2>/dev/null; fi
  if [[ -n $child && -z $reminder ]]; then
    remind >/dev/null 2>&1 &
    reminder=$!
    disown "$reminder"  # bash would report its end
  fi
}
# The time limit is near, or Slurm announces pre-emption: this script requeues the job.
trap 'ask requeue' USR1
# Slurm ends the job, and requeues it itself (pre-emption) or not at all (scancel). Requeuing here would restart cancelled
# jobs.
trap 'ask stop' TERM USR2

# start COMMAND...: replaces this process and blocks TERM. Slurm sends TERM to all processes of a job, and mpirun would kill
# the ranks two seconds later, in the middle of a checkpoint. The ranks still get TERM: mpirun unblocks it for its children.
start() {
  if env --block-signal=TERM true 2>/dev/null; then exec env --block-signal=TERM "$@"; fi
  exec "$@"
}

# Does nothing if pre-emption has requeued the job already.
requeue() {
  local reason
  if reason=$(scontrol requeue "$SLURM_JOB_ID" 2>&1); then return; fi
  case $reason in
    *"pending execution"*) say "is queued already" ;;
    *)
      printf '%s\n' "$reason" >&2
      say "cannot be requeued; submit it again with the same RUN to continue"
      ;;
  esac
}

before=$(checkpoints)
read -rd '' -a options <<<"$OPTIONS"
read -rd '' -a mpirun_options <<<"$MPIRUN_OPTIONS"
say "$RANKS ranks, restart ${SLURM_RESTART_COUNT:-0}, $RUN"
start mpirun "${mpirun_options[@]}" -n "$RANKS" "$CPT_DIST" --resume --data "$DATA" --run "$RUN" "${options[@]}" &
child=$!
if [[ -n $asked ]]; then ask "$asked"; fi  # the signal came before mpirun was started

# A trap ends `wait` early, with a status that is not the one of mpirun.
while :; do
  interrupted=
  wait "$child"
  status=$?
  if [[ -z $interrupted ]]; then break; fi
done
if [[ -n $reminder ]]; then kill -KILL "$reminder" 2>/dev/null; fi
say "exit status $status${asked:+, asked to $asked}"

# Above 128: the ranks did not handle the signal yet, or were too slow. The previous checkpoint remains.
if [[ $asked == requeue ]] && ((status > 128)); then status=75; fi
# An error of input or output: a file system may be gone for minutes. But a job that left no new checkpoint would fail again.
if [[ -z $asked ]] && ((status == 66 || status == 73)); then
  sleep 60
  after=$(checkpoints)
  if [[ -n $after && $after != "$before" ]]; then status=75; fi
fi
if [[ $asked != stop ]] && ((status == 75)); then requeue; fi
exit "$status"
